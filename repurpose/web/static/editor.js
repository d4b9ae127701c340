// The editor of one section: its text, the posts of its thread, or its fields.
import { ApiError, get, post, rowPath, runPath } from "./api.js";
import { counter } from "./counter.js";
import { diffText } from "./diff.js";
import { announce, button, el, say } from "./dom.js";
import { draft, dropDraft, keepDraft } from "./drafts.js";
import { fieldsOf } from "./fields.js";
import { sure } from "./sure.js";

/** @typedef {import("./words.js").Section} Section */
/** @typedef {import("./words.js").Row} Row */

/** What stands between the posts of a thread in its text, and how people may write it. */
const BETWEEN = "\n\n* * *\n\n";
const BETWEEN_READ = /\n[ \t]*\*[ \t]*\*[ \t]*\*[ \t]*(?:\n|$)/;
/** Fields that mail programs cut off; the counter says where. */
const COUNTED = { subject: "newsletter_subject", preheader: "newsletter_preheader" };

let made = 0;

/**
 * @param {object} on
 * @param {string} on.run
 * @param {Section} on.section
 * @param {Row} on.row the row that the edit is made from
 * @param {any} [on.start] a text or content to begin with instead of the row's
 * @param {() => string | undefined} on.by
 * @param {(row: Row) => void} on.saved
 * @param {() => void} on.closed
 * @returns {{root: HTMLElement, focus: () => void, leave: () => Promise<void>, row: () => string}}
 */
export function editor(on) {
  let row = on.row;
  const { section } = on;
  const before = draft(on.run, section.name);
  const asText = section.editing === "text";
  const original = asText ? row.text || "" : row.content || {};
  const form = asText
    ? textForm(section, row, before?.value ?? on.start ?? original, () => typed())
    : contentForm(before?.value ?? on.start ?? original, () => typed());

  const error = el("p", { class: "form-error", role: "alert", hidden: true });
  const clash = el("div", { class: "clash", hidden: true });
  const restored = el("p", { class: "muted", hidden: !before }, "What you typed before is here again.");
  const save = el("button", { type: "submit", class: "primary" }, "Save");
  const cancel = button("Cancel", () => leave());
  const root = el(
    "form",
    { class: "editor", novalidate: true, "aria-label": `Edit ${section.label}` },
    restored,
    form.root,
    error,
    clash,
    el("div", { class: "act" }, save, cancel),
  );

  const changed = () => JSON.stringify(form.value()) !== JSON.stringify(original);
  const typed = () => {
    if (changed()) keepDraft(on.run, section.name, { row: row.id, value: form.value() });
    else dropDraft(on.run, section.name);
  };
  root.addEventListener("input", typed);

  const close = () => {
    form.stop();
    dropDraft(on.run, section.name);
    on.closed();
  };

  async function leave() {
    const question = {
      title: "Discard what you typed?",
      what: `The text of ${section.label} stays as it was.`,
      yes: "Discard",
      no: "Keep editing",
    };
    if (!changed() || (await sure(question))) close();
  }

  async function stored() {
    say(error, "");
    save.disabled = true;
    try {
      const value = form.value();
      const body = { [asText ? "text" : "content"]: value, by: on.by() };
      const answer = await post(rowPath(row.id, "edit"), body);
      announce(`${section.label} saved`);
      close();
      on.saved(answer.row);
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      if (fault.status === 409) await clashed();
      else say(error, fault.told);
    } finally {
      save.disabled = false;
    }
  }

  /** Somebody else was faster: show what they changed, and keep what was typed here. */
  async function clashed() {
    const found = await get(runPath(on.run)).catch(() => null);
    const theirs = found?.sections.find((each) => each.name === section.name)?.row;
    if (!theirs || theirs.id === row.id) {
      say(error, "Somebody changed this meanwhile. Save again to put yours in its place.");
      return;
    }
    const path = `${rowPath(theirs.id, "diff")}?with=${encodeURIComponent(row.id)}`;
    const told = await get(path).catch(() => null);
    clash.replaceChildren(
      el("p", {}, el("strong", {}, `${theirs.author || "Somebody"} changed this meanwhile.`), " What you typed is still here. This is what they changed:"),
      told ? diffText(told.changes.mine) : el("p", { dir: "auto" }, theirs.text || theirs.message),
      el("p", { class: "muted" }, "Save puts yours in its place; theirs stays in the history."),
    );
    clash.hidden = false;
    row = theirs;
    typed();
    announce("Somebody changed this meanwhile");
  }

  root.addEventListener("submit", (event) => {
    event.preventDefault();
    stored();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) root.requestSubmit();
    if (event.key === "Escape") {
      event.preventDefault();
      leave();
    }
  });
  return {
    root,
    focus: () => root.querySelector("textarea, input")?.focus(),
    leave,
    row: () => row.id,
  };
}

/** One box, or one for each post of a thread. */
function textForm(section, row, start, changed) {
  const thread = (row.content?.posts?.length || 0) > 0;
  const counters = [];
  const boxes = el("div", { class: "boxes" });

  const add = (text, label, counts = true) => {
    const id = `text-${++made}`;
    const lines = Math.min(18, Math.max(3, text.split("\n").length + Math.ceil(text.length / 80)));
    const box = el("textarea", { id, rows: String(lines), dir: "auto", spellcheck: "true" });
    if (row.language) box.lang = row.language;
    box.value = text;
    const part = el("div", { class: "field" }, el("label", { for: id }, label), box);
    if (section.platform && counts) {
      const counted = counter(box, section.platform, section.limit);
      counters.push(counted);
      part.append(counted.root);
    }
    boxes.append(part);
    return box;
  };

  if (titled(row)) {
    // The title stands over the text, on a line of its own, and does not count to its length.
    const [title, ...rest] = start.split("\n\n");
    const boxed = [add(title, "Title", false), add(rest.join("\n\n"), "Text")];
    boxed[0].rows = 1;
    const value = () => boxed.map((box) => box.value).join("\n\n");
    return { root: boxes, value, stop: () => stopAll(counters) };
  }
  if (!thread) {
    const box = add(start, "Text");
    return { root: boxes, value: () => box.value, stop: () => stopAll(counters) };
  }
  const held = [];
  const grow = (text) => held.push(add(text, `Post ${held.length + 1}`));
  for (const text of start.split(BETWEEN_READ)) grow(text.trim());
  const more = button("Add a post", () => {
    grow("");
    held.at(-1).focus();
    changed();
  });
  const hint = el("p", { class: "hint" }, "An empty post is left out. Numbers are put right by themselves.");
  return {
    root: el("div", {}, boxes, more, hint),
    value: () => held.map((box) => box.value).filter((text) => text.trim()).join(BETWEEN),
    stop: () => stopAll(counters),
  };
}

const titled = (row) => Boolean(row.content?.title) && typeof row.content?.title === "string";

function contentForm(content, changed) {
  const fields = fieldsOf(content, changed);
  const counters = [];
  for (const [name, platform] of Object.entries(COUNTED)) {
    const box = fields.root.querySelector(`[data-field="${name}"]`);
    if (!box) continue;
    const counted = counter(box, platform);
    counters.push(counted);
    box.parentElement.append(counted.root);
  }
  return { root: fields.root, value: fields.value, stop: () => stopAll(counters) };
}

const stopAll = (counters) => counters.forEach((each) => each.stop());
