/* Draws the figures of an exported report: in the reader's colours, anew for paper, and when one is unfolded. */
(function () {
  "use strict";
  function held(name) { /* from our own script elements alone: no element of the content can stand in for them */
    return JSON.parse(document.querySelector('script[type="application/json"][data-held="' + name + '"]').textContent);
  }
  var colours = held("colours");
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var PAPER_WIDTH = 860; /* CSS pixels of the column, which the style sheet shrinks to A4 */
  var quiet = { displayModeBar: false, displaylogo: false, responsive: true, showTips: false,
    plotlyServerURL: "", topojsonURL: "", mapboxAccessToken: "", showSendToCloud: false, showEditInChartStudio: false };

  function recoloured(value, names) {
    if (typeof value === "string") { return Object.prototype.hasOwnProperty.call(names, value) ? names[value] : value; }
    if (Array.isArray(value)) { return value.map(function (inner) { return recoloured(inner, names); }); }
    if (value && typeof value === "object") {
      var changed = {};
      Object.keys(value).forEach(function (key) {
        if (key !== "__proto__") { changed[key] = recoloured(value[key], names); }
      });
      return changed;
    }
    return value;
  }

  function draw(place, onPaper) {
    var figure = recoloured(held(place.getAttribute("data-figure")), dark.matches && !onPaper ? colours.dark : {});
    figure.layout.paper_bgcolor = figure.layout.plot_bgcolor = "rgba(0,0,0,0)";
    figure.layout.autosize = true;
    delete figure.layout.width;
    if (onPaper) { figure.layout.width = PAPER_WIDTH; figure.layout.autosize = false; }
    return Plotly.react(place, figure.data, figure.layout, quiet);
  }

  var places = Array.prototype.slice.call(document.querySelectorAll("div.ql-plot[data-figure]"));
  function drawAll(onPaper) { places.forEach(function (place) { draw(place, onPaper); }); }

  Promise.all(places.map(function (place) { return draw(place, false); })).then(function () {
    document.documentElement.setAttribute("data-drawn", String(places.length));
  });
  dark.addEventListener("change", function () { drawAll(false); });
  window.addEventListener("beforeprint", function () { drawAll(true); });
  window.addEventListener("afterprint", function () { drawAll(false); });
  document.addEventListener("toggle", function (event) {
    if (!event.target.open) { return; }
    places.forEach(function (place) { if (event.target.contains(place)) { Plotly.Plots.resize(place); } });
  }, true);
})();
