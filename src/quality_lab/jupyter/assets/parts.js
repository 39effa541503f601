// What both pages are made of. Text from traces only ever becomes a text node or the value of a field:
// nothing here parses HTML.

/** Return an element with attributes and children; a child that is a string becomes a text node. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function words(name) {
  return String(name).replaceAll("_", " ");
}

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"(?=\s*:)|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;
const FOLDED_LINES = 14;
const MOST_TINTED = 20000;

/** Return JSON text as a block: keys set back, long ones folded. */
function code(text, { folded = FOLDED_LINES, label = "" } = {}) {
  const lines = text.split("\n");
  const block = make("pre", { class: "ql-code", "aria-label": label || null });
  const show = (shown) => block.replaceChildren(...(shown.length > MOST_TINTED ? [shown] : tinted(shown)));
  if (lines.length <= folded + 3) {
    show(text);
    return block;
  }
  let open = false;
  const button = make("button", { type: "button", class: "ql-link", click: () => turn() });
  const turn = () => {
    show(open ? text : lines.slice(0, folded).join("\n"));
    button.textContent = open ? "show less" : `show all ${lines.length} lines`;
    button.setAttribute("aria-expanded", String(open));
    open = !open;
  };
  turn();
  return make("div", {}, block, button);
}

function tinted(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(JSON_TOKEN)) {
    const token = found[0];
    parts.push(text.slice(end, found.index));
    end = found.index + token.length;
    const key = token[0] === '"' && /^\s*:/.test(text.slice(end, end + 8));
    parts.push(make("span", { class: key ? "ql-key" : token[0] === '"' ? "ql-string" : "ql-number" }, token));
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== "");
}

/** Return text that was said: whole if short, else folded. */
function speech(text) {
  if (text.length <= 700) return make("div", { class: "ql-said", dir: "auto" }, text);
  return make(
    "details",
    { class: "ql-said" },
    make("summary", { dir: "auto" }, `${text.slice(0, 160).replaceAll("\n", " ")}… (${text.length} characters)`),
    make("div", { dir: "auto" }, text),
  );
}

function chip(text, kind = "") {
  return text ? make("span", { class: `ql-chip ${kind}` }, text) : null;
}

/** Return a step of a conversation as a row: who, and what was said or done. */
function storyRow(step) {
  const what = { said: step.who, called: "call", labelled: "reviewer" }[step.kind];
  const row = make("li", { class: `ql-step ql-${step.kind}` }, make("div", { class: "ql-who", title: step.at || null }, what));
  if (step.chosen) {
    row.classList.add("ql-chosen");
    row.setAttribute("aria-current", "true");
  }
  const body = make("div", { class: "ql-body" });
  if (step.kind === "called") {
    const head = [make("span", { class: "ql-tool" }, step.who), " ", chip(step.state, step.fine ? "" : "ql-bad")];
    if (step.chosen) body.append(make("div", {}, ...head.filter(Boolean)), make("div", { class: "ql-quiet" }, "the call to judge"));
    else {
      const inside = make("div", {}, code(step.arguments || "(no arguments)"), make("div", { class: "ql-quiet" }, "returned"), code(step.result || "(nothing)"));
      const brief = make("span", { class: "ql-brief" }, step.brief);
      body.append(make("details", {}, make("summary", {}, ...head.filter(Boolean), brief), inside));
    }
  } else if (step.kind === "labelled") {
    body.append(chip(words(step.state), step.fine ? "" : "ql-bad") || "", make("span", { class: "ql-quiet" }, ` by ${step.who}`), step.text ? speech(step.text) : "");
  } else body.append(speech(step.text));
  row.append(body);
  return row;
}

/** Scroll a pane, and nothing around it, until an element of it is in sight. */
function bringIntoSight(pane, element) {
  const [inner, outer] = [element.getBoundingClientRect(), pane.getBoundingClientRect()];
  if (inner.top < outer.top) pane.scrollTop -= outer.top - inner.top + 8;
  else if (inner.bottom > outer.bottom) pane.scrollTop += Math.min(inner.bottom - outer.bottom + 8, inner.top - outer.top);
}

/** Only these addresses become links; any other is shown as text. */
function link(address) {
  let scheme = "";
  try {
    scheme = new URL(address).protocol;
  } catch {
    return document.createTextNode(address);
  }
  if (scheme !== "http:" && scheme !== "https:") return document.createTextNode(address);
  return make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, address);
}

const LATE_MS = 6000;
const PING_MS = 15000;
const GONE = new Set(["dead", "restarting", "autorestarting", "terminating"]);

/** The line to the desk in the kernel. A question stays open until it is answered, and can be put again. */
class Line {
  constructor(model, { changed, where, news }) {
    this.model = model;
    this.news = news;
    this.changed = changed; // called whenever `state` or what is open may be another
    this.where = where; // what a ping names, so that news of it comes back
    this.open = new Map();
    this.state = "here"; // or "late": no answer yet; or "gone": the kernel that knew this page is no more
    this.mark = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
    this.count = 0;
    this.kernel = model.widget_manager && model.widget_manager.kernel;
    this.heard = (message) => this.answered(message);
    this.lived = () => this.ping();
    this.kernelSaid = (_, status) => GONE.has(status) && this.set("gone");
    model.on("msg:custom", this.heard);
    model.on("comm_live_update", this.lived);
    if (this.kernel && this.kernel.statusChanged) this.kernel.statusChanged.connect(this.kernelSaid);
    this.clock = setInterval(() => document.visibilityState === "visible" && this.ping(), PING_MS);
  }

  close() {
    clearInterval(this.clock);
    this.model.off("msg:custom", this.heard);
    this.model.off("comm_live_update", this.lived);
    if (this.kernel && this.kernel.statusChanged) this.kernel.statusChanged.disconnect(this.kernelSaid);
  }

  /**
   * Put a question. `done` gets each reply to it, refused or not; none comes where the kernel is gone.
   * With `words`, what a person said: it stays open until it is saved, refused for what it says, or given up.
   */
  ask(what, more = {}, { words = "", done = () => {} } = {}) {
    const id = `${this.mark}-${(this.count += 1)}`;
    this.open.set(id, { id, what, more, words, done, failed: null, timer: null });
    this.send(id);
  }

  /** Keep a question that was put to a kernel that is no more; the reader may put it again. */
  hold({ what, more, words }, done) {
    const id = `${this.mark}-${(this.count += 1)}`;
    this.open.set(id, { id, what, more, words, done, failed: "the kernel ended before it was saved", timer: null });
  }

  send(id) {
    const question = this.open.get(id);
    question.failed = null;
    clearTimeout(question.timer);
    question.timer = setTimeout(() => this.open.has(id) && this.state === "here" && this.set("late"), LATE_MS);
    try {
      this.model.send({ id, ask: question.what, ...question.more });
    } catch {
      this.set("gone");
    }
    this.changed();
  }

  answered(reply) {
    const question = reply && this.open.get(reply.id);
    if (!question) return;
    clearTimeout(question.timer);
    if (question.words && !reply.ok && !reply.refused) question.failed = reply.error;
    else this.open.delete(reply.id);
    if (this.state !== "here") this.set("here");
    question.done(reply);
    this.changed();
  }

  set(state) {
    if (this.state === state) return;
    this.state = state;
    this.changed();
  }

  ping() {
    if ([...this.open.values()].some((one) => one.what === "ping")) return;
    this.ask("ping", this.where(), { done: (reply) => reply.ok && this.news(reply) });
  }

  /** Return what a person said and the kernel did not confirm: open, or refused. */
  unsaved() {
    return [...this.open.values()].filter((one) => one.words);
  }

  /** Leave what is not saved to the page that comes in this one's place, as long as the browser keeps it open. */
  leave(who) {
    globalThis.qualityLabUnsaved = [...(globalThis.qualityLabUnsaved || []), ...this.unsaved().map(({ what, more, words }) => ({ who, what, more, words }))];
  }

  /** Take over what a page of the same person left: `done` says what a reply does, null: not of here, false: no need. */
  takeOver(who, done) {
    const left = globalThis.qualityLabUnsaved || [];
    globalThis.qualityLabUnsaved = left.filter((one) => {
      const then = one.who === who ? done(one) : null;
      if (then) this.hold(one, then);
      return then === null;
    });
  }

  again() {
    for (const one of this.unsaved()) this.send(one.id);
  }

  giveUp(id) {
    this.open.delete(id);
    this.changed();
  }
}

/** Return the box that says what is not saved, and why. */
function trouble(line) {
  const lost = line.unsaved().filter((one) => one.failed !== null || line.state !== "here");
  const box = make("div", { class: "ql-trouble", role: "alert" });
  const say = {
    gone: "Not connected: the kernel was restarted or has ended. Run the cell again to go on; what is not saved will be there.",
    late: "The kernel does not answer yet: it is busy, or gone.",
    here: "",
  }[line.state];
  if (say) box.append(make("div", { class: "ql-trouble-head" }, say));
  if (lost.length) {
    box.append(make("div", {}, `Not saved: ${lost.length === 1 ? "one thing" : `${lost.length} things`} that you said.`));
    const list = make("ul", {});
    for (const one of lost) {
      const why = one.failed === null ? "" : ` – ${one.failed}`;
      const drop = make("button", { type: "button", class: "ql-link", click: () => line.giveUp(one.id) }, "give up");
      list.append(make("li", {}, make("b", {}, one.words), why, " ", drop));
    }
    box.append(list);
    if (line.state !== "gone") {
      box.append(make("button", { type: "button", click: () => line.again() }, "Try again"));
    }
  }
  box.hidden = !say && !lost.length;
  return box;
}

/** Take keys for the page, and keep all of them from JupyterLab, where x cuts a cell; saving alone goes through. */
function ownKeys(root, keys) {
  root.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") return;
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.closest("input, textarea, select");
    const name = typing ? `typing ${event.key}` : event.key;
    if (!typing && event.target.closest("button, summary, a") && (event.key === "Enter" || event.key === " ")) return;
    const action = keys[name] || (!typing && keys[event.key.toLowerCase()]);
    if (!action) return;
    if (action(event) !== false) event.preventDefault();
  });
}

/** Return the table of keys. */
function keyTable(rows) {
  return make(
    "table",
    { class: "ql-keys" },
    make("tbody", {}, ...rows.map(([keys, what]) => make("tr", {}, make("th", { scope: "row" }, ...keys.split(" ").map((key) => make("kbd", {}, key))), make("td", {}, what)))),
  );
}
