// Deciding: proposals in a list, one at a time as a card, and the decision beneath it.

const KEYS = [
  ["j ↓", "the next proposal"],
  ["k ↑", "the one before"],
  ["a p d c o", "accept, apply, dismiss, close, reopen: choose it"],
  ["Enter", "write the decision down"],
  ["x", "open the next example"],
  ["m", "make a case of the open example"],
  ["u", "take back what was decided here last"],
  ["?", "these keys"],
  ["Esc", "back to the keys"],
];
const FIELDS = [
  ["kind", "kind", ["apply"]],
  ["ref", "ref", ["apply"]],
  ["url", "URL", ["apply"]],
  ["owner", "owner", ["accept", "apply"]],
  ["due", "due", ["accept", "apply"]],
  ["expect", "expectation", ["accept", "apply"]],
  ["note", "note", ["accept", "apply", "dismiss", "close", "reopen"]],
];
const HINTS = {
  ref: "PR 41, v3 of the prompt …",
  url: "https://…",
  owner: "who does it",
  note: "why, in a sentence",
};

function render({ model, el }) {
  const cards = new Map();
  const typed = new Map(); // proposal to what stands in the fields
  let action = null;
  let refused = "";
  let openExample = 0;

  const state = () => model.get("state");
  const items = () => state().items;
  const place = () => Math.min(model.get("place"), items().length - 1);
  const here = () => items()[place()];
  const line = new Line(model, { changed: () => paintTrouble(), where: () => (here() ? { proposal: here().id } : {}), news: (reply) => reply.card && took(reply.card.id, reply.card) });

  const counts = make("span", { class: "ql-progress" });
  const list = make("ol", { class: "ql-proposals" });
  const listPane = make("nav", { class: "ql-pane ql-left", "aria-label": "proposals" }, list);
  const cardPane = make("section", { class: "ql-pane ql-right", tabindex: "0", "aria-label": "the proposal" });
  const help = make("div", { class: "ql-help", role: "dialog", "aria-label": "keys", hidden: true }, keyTable(KEYS));
  const troubleBox = make("div", { class: "ql-trouble-place" });
  const actions = new Map(
    state().actions.map((one) => [
      one.name,
      make("button", { type: "button", class: "ql-label", title: one.means, "aria-pressed": "false", "aria-keyshortcuts": one.key, click: () => choose(one.name) }, make("kbd", {}, one.key), one.name),
    ]),
  );
  const fields = new Map(FIELDS.map(([name, word, where]) => [name, field(name, word, where)]));
  const write = make("button", { type: "button", class: "ql-write", click: () => decideIt() }, "write it down");
  const hint = make("span", { class: "ql-quiet ql-hint" }, "Choose what is to become of it; then owner, reason and the like can be written down with it.");
  const status = make("div", { class: "ql-status", role: "status", "aria-live": "polite", id: `ql-status-${line.mark}` });
  const root = make(
    "div",
    { class: "ql-desk ql-decide", tabindex: "0", role: "region", "aria-label": "decisions on proposals" },
    make(
      "header",
      { class: "ql-head" },
      make("span", { class: "ql-name" }, "Decide"),
      make("span", { class: "ql-quiet" }, state().decider),
      counts,
      make("span", { class: "ql-unfocused ql-quiet" }, "click here for the keys"),
      make("button", { type: "button", "aria-keyshortcuts": "?", title: "key ?", click: () => toggleHelp() }, "?"),
    ),
    make("div", { class: "ql-main" }, listPane, cardPane, help, troubleBox),
    make(
      "footer",
      { class: "ql-foot" },
      make("div", { class: "ql-bar", role: "group", "aria-label": "decision" }, ...actions.values(), make("button", { type: "button", "aria-keyshortcuts": "u", title: "key u", click: () => undo() }, "undo")),
      make("div", { class: "ql-bar ql-fields" }, ...[...fields.values()].map((one) => one.label), write, hint),
      status,
    ),
  );

  function field(name, word, where) {
    const attributes = {
      "aria-label": word,
      placeholder: HINTS[name] || word,
      autocomplete: "off",
      input: (event) => (typedHere()[name] = event.target.value),
    };
    const input =
      name === "kind"
        ? make("select", attributes, make("option", { value: "" }, "kind …"), ...state().kinds.map((kind) => make("option", { value: kind }, words(kind))))
        : make("input", { type: name === "due" ? "date" : "text", ...attributes });
    return { input, where, label: make("label", { class: `ql-field ql-field-${name}` }, make("span", { class: "ql-quiet" }, word), input) };
  }

  function typedHere() {
    const id = here().id;
    if (!typed.has(id)) typed.set(id, {});
    return typed.get(id);
  }

  function say(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("ql-bad", bad);
  }

  function go(index) {
    if (index < 0 || index >= items().length) return;
    model.set("place", index);
    model.save_changes();
    action = null;
    refused = "";
    openExample = 0;
    paint();
    load(here().id);
  }

  function load(id) {
    line.ask("card", { proposal: id }, { done: (reply) => (reply.ok ? took(id, reply.card) : say(reply.error, true)) });
  }

  function took(id, card) {
    if (!card) return; // the database is busy: the next ping brings it
    cards.set(id, card);
    if (here() && here().id === id) paintCard();
  }

  // ---- deciding ----

  function choose(name) {
    if (!here()) return;
    action = action === name ? null : name;
    refused = "";
    paintForm();
    const first = FIELDS.find(([, , where]) => where.includes(action));
    if (action) fields.get(first[0]).input.focus({ preventScroll: true });
  }

  function decideIt() {
    if (!here() || !action) return say("Choose a decision first.", true);
    const one = here();
    const given = typedHere();
    const more = Object.fromEntries(FIELDS.filter(([, , where]) => where.includes(action)).map(([name]) => [name, given[name] || ""]));
    const said = Object.entries(more).filter(([, text]) => text).map(([name, text]) => `${name} ${text}`);
    say("Saving …");
    refused = "";
    const put = { proposal: one.id, action, ...more };
    line.ask("decide", put, { words: `${action}: ${one.title}${said.length ? ` (${said.join(", ")})` : ""}`, done: decidedOn(put) });
  }

  /** Return what is to be done with the reply to a decision. */
  function decidedOn({ proposal, action: chosen }) {
    return (reply) => {
      const shown = here() && here().id === proposal;
      if (!reply.ok) {
        if (reply.refused && shown) refused = reply.error;
        say(`Not saved: ${reply.error}`, true);
        paintForm();
        return;
      }
      typed.delete(proposal);
      if (shown) action = null;
      took(proposal, reply.card);
      say(`${chosen}: saved${andThen(reply)}`);
      paint();
      if (shown) root.focus({ preventScroll: true });
    };
  }

  /** Return how a sentence on a line that was written ends. */
  function andThen(reply) {
    const remark = reply.remark ? ` Mind: ${reply.remark}.` : "";
    return `${reply.notice ? `; ${reply.notice}.` : ". u takes it back."}${remark}`;
  }

  function makeCase(uid, expect) {
    const put = { proposal: here().id, uid, expect };
    say("Making the case …");
    line.ask("case", put, { words: `make a case of an example of: ${here().title}`, done: caseMade(put) });
  }

  function caseMade({ proposal }) {
    return (reply) => {
      if (!reply.ok) return say(`No case was made: ${reply.error}`, true);
      took(proposal, reply.card);
      const proof = reply.proof === "red" ? "it catches its fault" : `${words(reply.proof)}: ${reply.reasons.join("; ")}`;
      say(`Case REG-${reply.case} is made (${proof})${andThen(reply)}`);
      paint();
    };
  }

  function undo() {
    line.ask("undo", {}, {
      words: "undo",
      done: (reply) => {
        if (!reply.ok) return say(reply.error, true);
        took(reply.proposal, reply.card);
        const index = items().findIndex((one) => one.id === reply.proposal);
        if (index >= 0 && index !== place()) go(index);
        else paint();
        say(`Taken back${reply.notice ? `; ${reply.notice}` : ""}.`);
      },
    });
  }

  // ---- painting ----

  function paint() {
    paintList();
    paintCard();
    paintForm();
    paintTrouble();
  }

  function paintList() {
    const by = new Map();
    for (const one of items()) by.set(one.state, (by.get(one.state) || 0) + 1);
    counts.textContent = [...by].map(([name, count]) => `${count} ${name}`).join(" · ");
    const kept = listPane.scrollTop;
    list.replaceChildren(
      ...items().map((one, index) =>
        make(
          "li",
          {},
          make(
            "button",
            { type: "button", class: "ql-proposal", "aria-current": String(index === place()), tabindex: "-1", click: () => (go(index), root.focus({ preventScroll: true })) },
            make("span", { class: "ql-title" }, one.title),
            make("span", { class: "ql-line" }, chip(one.severity, one.severity === "high" ? "ql-bad" : ""), chip(one.state, `ql-state-${one.state}`), one.recurred ? chip("came back", "ql-bad") : null, make("span", { class: "ql-quiet" }, [one.rate, one.impact].filter(Boolean).join(" · ") || one.of)),
          ),
        ),
      ),
    );
    listPane.scrollTop = kept;
    const current = list.querySelector('[aria-current="true"]');
    if (current) bringIntoSight(listPane, current);
  }

  function paintCard() {
    const one = here();
    if (!one) return cardPane.replaceChildren(make("p", {}, "No label asks for a change: there is nothing to decide."));
    const card = cards.get(one.id);
    const head = [
      make("div", { class: "ql-card-title" }, one.title),
      make(
        "div",
        { class: "ql-line" },
        chip(one.severity, one.severity === "high" ? "ql-bad" : ""),
        chip(one.state, `ql-state-${one.state}`),
        one.recurred ? chip("came back", "ql-bad") : null,
        make("span", { class: "ql-tool" }, one.tool),
        make("span", { class: "ql-quiet" }, [words(one.label), one.source].filter(Boolean).join(" · ")),
      ),
    ];
    if (!card) return cardPane.replaceChildren(...head, make("p", { class: "ql-quiet" }, "…"));
    const before = cardPane.dataset.id === one.id ? cardPane.scrollTop : 0;
    cardPane.dataset.id = one.id;
    cardPane.replaceChildren(
      ...head,
      make("p", {}, card.summary),
      card.decisions.length ? decided(card.decisions, card.effect) : make("p", { class: "ql-quiet" }, "Nothing was decided yet."),
      bullets("Why", card.rationale),
      bullets("What to do", card.action_items),
      make("h4", {}, "Examples"),
      ...card.examples.map(example),
      card.more ? make("p", { class: "ql-quiet" }, `${card.more} more are in the lab.`) : "",
      card.flags.length ? make("p", { class: "ql-quiet" }, `Mind: ${card.flags.join(", ")}.`) : "",
    );
    cardPane.scrollTop = before;
  }

  function bullets(title, texts) {
    return texts.length ? make("div", {}, make("h4", {}, title), make("ul", {}, ...texts.map((text) => make("li", {}, text)))) : "";
  }

  function decided(lines, effect) {
    const row = (one) =>
      make(
        "li",
        {},
        make("b", {}, one.action),
        ` by ${one.who}, ${one.at} `,
        ...one.words.flatMap(([name, text]) => [make("span", { class: "ql-quiet" }, `· ${name} `), text, " "]),
        ...(one.url ? [make("span", { class: "ql-quiet" }, "· "), link(one.url)] : []),
      );
    const became = effect ? make("p", {}, chip(words(effect.verdict), effect.verdict === "not_verified" ? "ql-bad" : ""), " ", effect.why) : "";
    return make("div", {}, make("h4", {}, "Decided"), make("ul", { class: "ql-decided" }, ...lines.map(row)), became);
  }

  function example(one, index) {
    const right = make("input", { type: "text", placeholder: "what is right, in a sentence (may stay empty)", "aria-label": "what is right", autocomplete: "off" });
    const note = one.steps.find((step) => step.kind === "labelled" && step.text);
    return make(
      "details",
      {
        class: "ql-example",
        open: index === openExample,
        toggle: (event) => {
          if (event.target.open) openExample = index;
        },
      },
      make("summary", {}, make("span", { class: "ql-quiet" }, `${one.at || "undated"} · ${one.conversation} `), note ? `“${note.text.slice(0, 90)}${note.text.length > 90 ? "…" : ""}”` : ""),
      one.steps.length
        ? make("ol", { class: "ql-story" }, ...one.steps.map(exampleRow))
        : make("p", { class: "ql-quiet" }, "Its call is not in this lab any more."),
      make("div", { class: "ql-bar ql-make" }, right, make("button", { type: "button", "data-uid": one.uid, click: () => makeCase(one.uid, right.value) }, "make a case")),
    );
  }

  /** A call of an example is shown whole: it is what the talk is about. */
  function exampleRow(step) {
    if (step.kind !== "called") return storyRow({ ...step, chosen: false });
    return make(
      "li",
      { class: "ql-step ql-called ql-chosen" },
      make("div", { class: "ql-who", title: step.at || null }, "call"),
      make(
        "div",
        { class: "ql-body" },
        make("span", { class: "ql-tool" }, step.who),
        step.arguments ? code(step.arguments, { folded: 8, label: "arguments" }) : "",
        make("div", { class: "ql-quiet" }, "returned ", chip(step.state, step.fine ? "" : "ql-bad") || ""),
        step.result ? code(step.result, { folded: 5, label: "result" }) : "",
      ),
    );
  }

  function paintForm() {
    for (const [name, element] of actions) element.setAttribute("aria-pressed", String(name === action));
    const given = here() ? typedHere() : {};
    if (here()) fields.get("expect").input.placeholder = here().expect;
    for (const [name, one] of fields) {
      one.label.hidden = !action || !one.where.includes(action);
      if (document.activeElement !== one.input) one.input.value = given[name] || "";
      const wanted = Boolean(refused) && ["kind", "ref", "url"].includes(name) && action === "apply";
      one.input.setAttribute("aria-invalid", String(wanted));
      if (wanted) one.input.setAttribute("aria-describedby", status.id);
      else one.input.removeAttribute("aria-describedby");
    }
    write.hidden = !action;
    write.textContent = action ? `${action}: write it down` : "";
    hint.hidden = Boolean(action);
  }

  function paintTrouble() {
    troubleBox.replaceChildren(trouble(line));
    if (line.state === "gone") say("Not connected: nothing is saved any more.", true);
  }

  function toggleHelp() {
    help.hidden = !help.hidden;
  }

  const examples = () => [...cardPane.querySelectorAll(".ql-example")];
  const keys = {
    j: () => go(place() + 1),
    ArrowDown: () => go(place() + 1),
    k: () => go(place() - 1),
    ArrowUp: () => go(place() - 1),
    u: undo,
    x: () => {
      const all = examples();
      if (!all.length) return;
      openExample = (openExample + 1) % all.length;
      all.forEach((one, index) => (one.open = index === openExample));
      bringIntoSight(cardPane, all[openExample]);
    },
    m: () => {
      const one = examples()[openExample];
      if (!one) return;
      const field = one.querySelector(".ql-make input");
      field.focus({ preventScroll: true });
      bringIntoSight(cardPane, field);
    },
    "?": toggleHelp,
    Enter: () => (action ? decideIt() : false),
    PageUp: () => cardPane.scrollBy({ top: -240 }),
    PageDown: () => cardPane.scrollBy({ top: 240 }),
    Escape: () => {
      if (!help.hidden) toggleHelp();
      else if (action) choose(action);
    },
    "typing Escape": () => root.focus({ preventScroll: true }),
    "typing Enter": (event) => {
      const inCase = event.target.closest(".ql-make");
      if (inCase) makeCase(inCase.querySelector("button").dataset.uid, event.target.value);
      else decideIt();
    },
  };
  for (const one of state().actions) keys[one.key] = () => choose(one.name);
  ownKeys(root, keys);

  line.takeOver(`decide ${state().decider}`, ({ what, more }) => {
    if (!items().some((one) => one.id === more.proposal)) return null;
    return what === "decide" ? decidedOn(more) : what === "case" ? caseMade(more) : null;
  });
  const repaint = () => (paintList(), paintForm());
  model.on("change:state", repaint);
  el.append(root);
  paint();
  if (here()) load(here().id);
  return () => {
    model.off("change:state", repaint);
    line.leave(`decide ${state().decider}`);
    line.close();
  };
}

export default { render };
