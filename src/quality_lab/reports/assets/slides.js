/* Moves through the slides, makes them as large as the window allows, and what is too long for one smaller. */
(function () {
  "use strict";
  var slides = Array.prototype.slice.call(document.querySelectorAll("section.slide"));
  var SMALLEST = 55; /* percent */
  var now = 0;

  function fit() {
    document.documentElement.style.setProperty("--fit",
      String(Math.min(window.innerWidth / 1280, window.innerHeight / 720)));
  }

  function shrink(slide) { /* a sheet has 720 - 44 - 56 pixels for what it says */
    var content = slide.querySelector(".ql");
    for (var size = 100; size >= SMALLEST; size -= 5) {
      content.style.zoom = String(size / 100);
      if (content.getBoundingClientRect().height / scale() <= 616) { break; }
    }
    slide.classList.toggle("cut", content.getBoundingClientRect().height / scale() > 616);
  }

  function scale() {
    var box = slides[now].getBoundingClientRect();
    return box.height / 720;
  }

  function show(number) {
    now = Math.max(0, Math.min(slides.length - 1, number));
    slides.forEach(function (slide, place) { slide.classList.toggle("now", place === now); });
    shrink(slides[now]);
    history.replaceState(null, "", "#" + (now + 1));
  }

  var moves = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, Enter: 1,
    ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Backspace: -1 };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.key === "Home" || event.key === "End") { show(event.key === "Home" ? 0 : slides.length - 1); }
    else if (Object.prototype.hasOwnProperty.call(moves, event.key)) {
      show(now + (event.key === " " && event.shiftKey ? -1 : moves[event.key]));
    } else { return; }
    event.preventDefault();
  });
  window.addEventListener("resize", fit);
  window.addEventListener("hashchange", function () { show(parseInt(location.hash.slice(1), 10) - 1 || 0); });

  if (!slides.length) { return; }
  document.documentElement.classList.add("moving");
  fit();
  var first = parseInt(location.hash.slice(1), 10) - 1 || 0;
  slides.forEach(function (slide, place) { show(place); }); /* each is measured once, for the printer too */
  show(first);
})();
