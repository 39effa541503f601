// Labelling: a queue of calls, one at a time, by keyboard.

const KEYS = [
  ["1 2 3 4 5", "give the label; g w m b o do so too"],
  ["n", "write a note; Enter ends it"],
  ["e", "say what should have been called, and how"],
  ["j →", "the next call"],
  ["k ←", "the one before"],
  ["u", "take back what you said last"],
  ["a", "settle a dispute: the next label is final"],
  ["d", "show what the tool is"],
  ["↑ ↓", "scroll the conversation; PgUp PgDn scroll the call"],
  ["?", "these keys"],
  ["Esc", "back to the keys"],
];

const NO_OBJECT = "Not saved: the expected arguments are to be a JSON object. e goes back to them.";
const AHEAD = 3; // cards that are fetched before they are needed

function render({ model, el }) {
  const cards = new Map(); // by uid
  const voices = new Map();
  const drafts = new Map(); // what was typed and not saved
  const underway = new Set(); // cards that were asked for
  const pending = new Map(); // uid to the label that is on its way
  let settling = false;
  let wrong = null; // the call whose expected arguments are no JSON object, as was said beside them
  let defined = false; // the tool's definition is unfolded
  let painted = "";

  const state = () => model.get("state");
  const items = () => state().items;
  const place = () => Math.min(model.get("place"), items().length - 1);
  const here = () => items()[place()];

  const line = new Line(model, {
    changed: () => paintTrouble(),
    where: () => (here() ? { uid: here().uid } : {}),
    news: (reply) => reply.voices && here() && heard(here().uid, reply.voices),
  });

  // ---- the frame, made once ----

  const progress = make("span", { class: "ql-progress" });
  const strip = make("div", { class: "ql-strip", role: "group", "aria-label": "calls of the queue" });
  const story = make("ol", { class: "ql-story" });
  const storyPane = make("section", { class: "ql-pane ql-left", tabindex: "0", "aria-label": "conversation" }, story);
  const callPane = make("section", { class: "ql-pane ql-right", tabindex: "0", "aria-label": "the call to judge" });
  const help = make("div", { class: "ql-help", role: "dialog", "aria-label": "keys", hidden: true }, keyTable(KEYS));
  const troubleBox = make("div", { class: "ql-trouble-place" });
  const barWord = make("span", { class: "ql-bar-word" }, "Label");
  const labels = new Map(
    state().labels.map((label, index) => [
      label.name,
      make(
        "button",
        {
          type: "button",
          class: "ql-label",
          title: label.means,
          "aria-pressed": "false",
          "aria-keyshortcuts": `${index + 1} ${label.key}`,
          click: () => give(label.name),
        },
        make("kbd", {}, String(index + 1)),
        words(label.name),
      ),
    ]),
  );
  const note = make("input", { class: "ql-note", type: "text", placeholder: "note (n)", "aria-label": "note", "aria-keyshortcuts": "n", autocomplete: "off" });
  const status = make("div", { class: "ql-status", role: "status", "aria-live": "polite" });
  const button = (text, key, click) => make("button", { type: "button", "aria-keyshortcuts": key, title: `key ${key}`, click }, text);
  const root = make(
    "div",
    { class: "ql-desk ql-review", tabindex: "0", role: "region", "aria-label": "review of tool calls" },
    make(
      "header",
      { class: "ql-head" },
      make("span", { class: "ql-name" }, "Review"),
      make("span", { class: "ql-quiet" }, state().reviewer),
      progress,
      strip,
      make("span", { class: "ql-unfocused ql-quiet" }, "click here for the keys"),
      button("?", "?", () => toggleHelp()),
    ),
    make("div", { class: "ql-main" }, storyPane, callPane, help, troubleBox),
    make(
      "footer",
      { class: "ql-foot" },
      make("div", { class: "ql-bar", role: "group", "aria-label": "labels" }, barWord, ...labels.values()),
      make(
        "div",
        { class: "ql-bar" },
        note,
        button("expected…", "e", () => openExpected()),
        button("settle", "a", () => settle()),
        button("undo", "u", () => undo()),
        button("‹", "k", () => go(place() - 1)),
        button("›", "j", () => go(place() + 1)),
      ),
      status,
    ),
  );

  // ---- what is said, and where one is ----

  function draftOf(uid) {
    if (!drafts.has(uid)) drafts.set(uid, saved(uid));
    return drafts.get(uid);
  }

  /** Return what the reviewer's standing label of a call says beside the label. */
  function saved(uid) {
    const own = (voices.get(uid) || {}).own;
    return {
      note: own ? own.note : "",
      tool: own ? own.expected_tool : "",
      args: own ? own.expected_arguments : "",
      open: Boolean(own && (own.expected_tool || own.expected_arguments)),
    };
  }

  function dirty(uid) {
    const draft = drafts.get(uid);
    const kept = saved(uid);
    return Boolean(draft) && ["note", "tool", "args"].some((name) => draft[name].trim() !== kept[name].trim());
  }

  function say(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("ql-bad", bad);
  }

  function go(index) {
    if (index < 0 || index >= items().length) return;
    leave();
    settling = false;
    model.set("place", index);
    model.save_changes();
    paint();
    fetch();
  }

  /** Save a note that was changed after its label; without a label it waits for one. */
  function leave() {
    const uid = here() && here().uid;
    const own = uid && (voices.get(uid) || {}).own;
    if (own && dirty(uid) && !pending.has(uid)) send("label", own.label);
  }

  function fetch() {
    const item = here();
    if (!item) return;
    if (cards.has(item.uid)) line.ask("voices", { uid: item.uid }, { done: (reply) => reply.ok && heard(item.uid, reply.voices) });
    else load(item.uid);
    for (const next of items().slice(place() + 1, place() + 1 + AHEAD)) load(next.uid);
  }

  function load(uid, whole = false) {
    if (!whole && (cards.has(uid) || underway.has(uid))) return;
    underway.add(uid);
    line.ask("card", { uid, whole }, {
      done: (reply) => {
        underway.delete(uid);
        if (!reply.ok) {
          if (here() && here().uid === uid) callPane.replaceChildren(make("p", { class: "ql-bad" }, reply.error));
          return;
        }
        cards.set(uid, reply.card);
        heard(uid, reply.voices);
        if (here() && here().uid === uid) paint();
      },
    });
  }

  function heard(uid, said) {
    const untouched = !dirty(uid);
    voices.set(uid, said);
    if (untouched) {
      const open = drafts.has(uid) && drafts.get(uid).open;
      drafts.delete(uid);
      if (open) draftOf(uid).open = true;
    }
    if (here() && here().uid === uid) paintVoices();
  }

  // ---- labelling ----

  function give(label) {
    const item = here();
    if (!item) return;
    if (!cards.has(item.uid)) return say("Wait: this call is not shown yet.", true);
    if (!expectedIsJson()) return;
    const own = (voices.get(item.uid) || {}).own;
    if (!settling && own && own.label === label && !dirty(item.uid) && !pending.has(item.uid)) {
      say(`Call ${place() + 1} is ${words(label)} already.`);
      return;
    }
    const what = settling ? "adjudicate" : "label";
    settling = false;
    send(what, label);
    if (what === "label" && state().advance) onward();
    else paintVoices();
  }

  /** Go to the next call without a label: after this one, else from the start. */
  function onward() {
    const open = (item) => !item.label && !pending.has(item.uid);
    const all = items();
    const after = all.findIndex((item, index) => index > place() && open(item));
    const next = after >= 0 ? after : all.findIndex(open);
    if (next >= 0) go(next);
    else paintVoices();
  }

  function send(what, label) {
    const { uid } = here();
    const draft = draftOf(uid);
    const expected = what === "label" ? { expected_tool: draft.tool, expected_arguments: draft.args } : {};
    const more = { uid, label, note: draft.note, ...expected };
    pending.set(uid, label);
    say(`Saving call ${place() + 1} …`);
    line.ask(what, more, { words: `call ${place() + 1}: ${told(what, more)}`, done: answered(what, more, JSON.stringify(draft)) });
    paintStrip();
  }

  function told(what, { label, note: given }) {
    return `${what === "adjudicate" ? "settled as " : ""}${words(label)}${given ? `, “${given}”` : ""}`;
  }

  /** Return what is to be done with the reply to a label. */
  function answered(what, more, sent) {
    const { uid, label } = more;
    const number = items().findIndex((item) => item.uid === uid) + 1;
    return (reply) => {
      if (!reply.ok) {
        if (reply.refused) pending.delete(uid);
        say(`Call ${number} was not saved: ${reply.error}`, true);
        paintVoices();
        return;
      }
      pending.delete(uid);
      if (JSON.stringify(drafts.get(uid)) === sent) drafts.delete(uid);
      heard(uid, reply.voices);
      say(`Call ${number}: ${told(what, { label })}, saved${reply.notice ? `; ${reply.notice}.` : `. ${aside(reply.voices)}`}`);
      paintStrip();
    };
  }

  /** Return a word on others who see it another way, else on how far one is. */
  function aside(said) {
    const other = (said.others || []).filter((one) => said.own && one.label !== said.own.label);
    if (other.length && !said.settled) {
      return `${other.map((one) => `${one.who} says ${words(one.label)}`).join(", ")}: there, a settles it.`;
    }
    const left = items().filter((item) => !item.label).length;
    return left ? "u takes it back." : `All ${items().length} are labelled.`;
  }

  function undo() {
    if (!here()) return;
    line.ask("undo", { uid: here().uid }, {
      words: "undo",
      done: (reply) => {
        if (!reply.ok) return say(reply.error, true);
        drafts.delete(reply.uid);
        heard(reply.uid, reply.voices);
        const index = items().findIndex((item) => item.uid === reply.uid);
        if (index >= 0 && index !== place()) go(index);
        say(`Taken back on call ${index + 1}${reply.notice ? `; ${reply.notice}` : ""}.`);
        paintStrip();
      },
    });
  }

  function settle() {
    if (!here()) return;
    const said = voices.get(here().uid);
    if (said && said.others === null) return say("Give your own label first: settling shows what the others said.", true);
    settling = !settling;
    say(settling ? "The next label settles what this call is. Esc leaves it open." : "");
    paintVoices();
  }

  // ---- what should have been called ----

  function openExpected() {
    if (!here() || !cards.has(here().uid)) return;
    const card = cards.get(here().uid);
    const draft = draftOf(card.uid);
    draft.open = true;
    if (!draft.tool) draft.tool = "";
    paintCall();
    const form = callPane.querySelector(".ql-expected");
    form.querySelector("input").focus({ preventScroll: true });
    bringIntoSight(callPane, form);
    form.scrollIntoView({ block: "nearest" });
  }

  function expectedIsJson() {
    const draft = draftOf(here().uid);
    if (!draft.args.trim()) return true;
    try {
      const value = JSON.parse(draft.args);
      if (value && typeof value === "object" && !Array.isArray(value)) return true;
    } catch {
      // said below
    }
    wrong = here().uid; // said beside the field, and the keys stay keys: none of them is typed into a box unseen
    paintCall();
    root.focus({ preventScroll: true });
    const form = callPane.querySelector(".ql-expected");
    bringIntoSight(callPane, form);
    form.querySelector(".ql-wrong").scrollIntoView({ block: "nearest" });
    say(NO_OBJECT, true);
    return false;
  }

  function expectedForm(card) {
    const draft = draftOf(card.uid);
    if (!draft.open) return null;
    const list = `ql-tools-${line.mark}`;
    const tool = make("input", {
      type: "text",
      list,
      value: draft.tool,
      placeholder: card.tool,
      "aria-label": "tool that should have been called",
      autocomplete: "off",
      input: (event) => ((draftOf(card.uid).tool = event.target.value), paintStrip()),
    });
    const given = draft.args || card.editable;
    const bad = wrong === card.uid;
    const said = make("div", { class: "ql-bad ql-wrong", role: "alert", hidden: !bad }, NO_OBJECT);
    const args = make("textarea", {
      value: given,
      rows: String(Math.min(14, given.split("\n").length + 1)),
      "aria-label": "arguments that would have been right, as JSON",
      spellcheck: "false",
      "aria-invalid": bad ? "true" : null,
      input: (event) => {
        draftOf(card.uid).args = event.target.value.trim() === card.editable.trim() ? "" : event.target.value;
        if (wrong === card.uid) wrong = null;
        said.hidden = true;
        args.removeAttribute("aria-invalid");
        paintStrip();
      },
    });
    return make(
      "div",
      { class: "ql-expected" },
      make("h4", {}, "Should have been"),
      make("label", {}, "tool", tool),
      make("datalist", { id: list }, ...card.tools.map((name) => make("option", { value: name }))),
      make("label", {}, "arguments", args),
      said,
      make("div", { class: "ql-quiet" }, "Esc, then a label: it is saved with that. Unchanged arguments are not written down."),
    );
  }

  // ---- painting ----

  function paint() {
    paintStrip();
    root.classList.toggle("ql-empty", !here());
    if (!here()) {
      story.replaceChildren();
      callPane.replaceChildren(make("p", {}, "There is no call to review."));
      return;
    }
    const card = cards.get(here().uid);
    if (painted !== here().uid || card) {
      painted = here().uid;
      paintStory(card);
      paintCall();
    }
    paintVoices();
    paintTrouble();
  }

  function paintStrip() {
    const all = items();
    if (strip.children.length !== all.length) {
      strip.replaceChildren(...all.map((_, index) => make("button", { type: "button", class: "ql-dot", tabindex: "-1", click: () => go(index) })));
    }
    all.forEach((item, index) => {
      const dot = strip.children[index];
      const saving = pending.has(item.uid);
      const kind = saving ? "saving" : dirty(item.uid) ? "draft" : item.settled ? "settled" : item.disputed ? "disputed" : item.label ? "done" : "open";
      const word = saving ? "not saved yet" : item.settled ? `settled as ${words(item.settled)}` : item.label ? words(item.label) + (item.disputed ? ", disputed" : "") : "no label yet";
      dot.className = `ql-dot ql-dot-${kind}`;
      dot.setAttribute("aria-current", String(index === place()));
      dot.setAttribute("aria-label", `call ${index + 1}, ${word}`);
      dot.title = `call ${index + 1}: ${word}`;
    });
    if (strip.children[place()]) bringIntoSight(strip, strip.children[place()]);
    progress.textContent = `${all.filter((item) => item.label).length} of ${all.length} labelled`;
  }

  function paintStory(card) {
    if (!card) return story.replaceChildren(make("li", { class: "ql-quiet" }, "…"));
    const hidden = card.before + card.after;
    const more = hidden
      ? make("li", {}, make("button", { type: "button", class: "ql-link", click: () => load(card.uid, true) }, `show the whole conversation: ${hidden} more ${hidden === 1 ? "step" : "steps"}`))
      : null;
    story.replaceChildren(...[more, ...card.story.map(storyRow)].filter(Boolean));
    if (card.told) story.append(make("li", { class: "ql-quiet" }, card.told));
    const chosen = story.querySelector(".ql-chosen");
    if (chosen) storyPane.scrollTop = chosen.offsetTop - storyPane.clientHeight * 0.6;
  }

  function paintCall() {
    const card = cards.get(here().uid);
    if (!card) return callPane.replaceChildren(make("p", { class: "ql-quiet" }, "…"));
    const definition = card.definition;
    callPane.replaceChildren(
      ...[
        make("div", { class: "ql-call-head" }, make("span", { class: "ql-tool" }, card.tool), " ", chip(card.state, card.fine ? "" : "ql-bad") || ""),
        make("div", { class: "ql-quiet ql-facts" }, card.facts.join(" · ")),
        make("div", { class: "ql-voices" }),
        block("Arguments", card.arguments),
        expectedForm(card),
        block("Result", card.result),
        definition
          ? make(
              "details",
              { class: "ql-definition", open: defined, toggle: (event) => (defined = event.target.open) },
              make("summary", {}, "What the tool is"),
              speech(definition.description || "It has no description."),
              definition.parameters.length ? parameters(definition.parameters) : null,
              definition.schema ? make("details", {}, make("summary", {}, "its schema"), code(definition.schema)) : null,
            )
          : make("div", { class: "ql-quiet" }, "How the tool was described to the model was not captured."),
      ].filter(Boolean),
    );
    callPane.scrollTop = 0;
    paintSaid();
  }

  function block(title, { text, word }) {
    const head = make("h4", {}, title, word ? make("span", { class: "ql-quiet" }, ` ${word}`) : "");
    return make("div", {}, head, text ? code(text, { label: title }) : null);
  }

  function parameters(rows) {
    const row = (one) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, one.name, one.required ? make("span", { class: "ql-required", title: "required" }, " *") : ""),
        make("td", {}, make("div", { class: "ql-kind" }, one.kind), one.means),
      );
    return make("table", { class: "ql-parameters" }, make("tbody", {}, ...rows.map(row)));
  }

  /** Show who said what: one's own word, and those of others once they may be seen. */
  function paintSaid() {
    const target = callPane.querySelector(".ql-voices");
    if (!target) return;
    const said = voices.get(here().uid);
    if (!said) return target.replaceChildren();
    const line_ = (one, word) =>
      make("div", {}, make("span", { class: "ql-quiet" }, `${word} `), make("b", {}, words(one.label)), one.expected_tool ? ` → ${one.expected_tool}` : "", one.note ? ` “${one.note}”` : "");
    const rows = [];
    if (said.settled) rows.push(line_(said.settled, `settled by ${said.settled.who}:`));
    if (said.own) rows.push(line_(said.own, "you:"));
    for (const one of said.others || []) rows.push(line_(one, `${one.who}:`));
    if (said.disputed) rows.push(make("div", { class: "ql-bad" }, "disputed: a settles it"));
    if (said.others === null) rows.push(make("div", { class: "ql-quiet" }, "What others said shows after your own label."));
    if (said.others && !said.others.length && said.own) rows.push(make("div", { class: "ql-quiet" }, "Nobody else has labelled it."));
    target.replaceChildren(...rows);
  }

  function paintVoices() {
    const item = here();
    if (!item) return;
    const said = voices.get(item.uid) || {};
    const standing = said.own ? said.own.label : item.label;
    barWord.textContent = settling ? "Settle as" : "Label";
    root.classList.toggle("ql-settling", settling);
    for (const [name, element] of labels) {
      const saving = pending.get(item.uid) === name;
      element.classList.toggle("ql-saving", saving);
      element.setAttribute("aria-pressed", String(!saving && !settling && standing === name));
    }
    if (document.activeElement !== note) note.value = draftOf(item.uid).note;
    paintSaid();
    paintStrip();
  }

  function paintTrouble() {
    troubleBox.replaceChildren(trouble(line));
    if (line.state === "gone") say("Not connected: nothing is saved any more.", true);
    for (const [uid] of pending) {
      const open = line.unsaved().some((one) => one.more.uid === uid);
      if (!open) pending.delete(uid); // given up
    }
    if (items().length) paintStrip();
  }

  function toggleHelp() {
    help.hidden = !help.hidden;
  }

  // ---- keys ----

  note.addEventListener("input", () => {
    if (here()) draftOf(here().uid).note = note.value;
    paintStrip();
  });

  function ended() {
    root.focus({ preventScroll: true });
    const uid = here() && here().uid;
    if (!uid || !dirty(uid)) return;
    if ((voices.get(uid) || {}).own) expectedIsJson() && leave();
    else say("Kept for the label that you give.");
  }

  const keys = {
    n: () => (note.focus({ preventScroll: true }), note.select()),
    e: openExpected,
    j: () => go(place() + 1),
    ArrowRight: () => go(place() + 1),
    k: () => go(place() - 1),
    ArrowLeft: () => go(place() - 1),
    u: undo,
    a: settle,
    d: () => {
      const definition = callPane.querySelector(".ql-definition");
      if (!definition) return;
      definition.open = !definition.open;
      if (definition.open) bringIntoSight(callPane, definition);
    },
    "?": toggleHelp,
    Escape: () => {
      if (!help.hidden) toggleHelp();
      else if (settling) settle();
    },
    "typing Escape": ended,
    "typing Enter": (event) => (event.target.tagName === "TEXTAREA" ? false : ended()),
    ArrowUp: () => storyPane.scrollBy({ top: -80 }),
    ArrowDown: () => storyPane.scrollBy({ top: 80 }),
    PageUp: () => callPane.scrollBy({ top: -200 }),
    PageDown: () => callPane.scrollBy({ top: 200 }),
  };
  state().labels.forEach((label, index) => {
    keys[String(index + 1)] = () => give(label.name);
    keys[label.key] = () => give(label.name);
  });
  ownKeys(root, keys);

  // what a page before this one could not save, of the same person and on calls of this queue
  line.takeOver(`review ${state().reviewer}`, ({ what, more }) => {
    const item = items().find((one) => one.uid === more.uid);
    if (!item) return null;
    if (what === "undo") return () => {};
    const bare = !more.note && !more.expected_tool && !more.expected_arguments;
    if (what === "label" && bare && item.label === more.label) return false; // written, and the kernel died before it said so
    pending.set(more.uid, more.label);
    return answered(what, more, "");
  });
  const repaint = () => paintVoices();
  model.on("change:state", repaint);
  el.append(root);
  paint();
  say(model.get("aside"));
  fetch();
  return () => {
    model.off("change:state", repaint);
    line.leave(`review ${state().reviewer}`);
    line.close();
  };
}

export default { render };
