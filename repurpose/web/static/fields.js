// A form for the fields of a content, whatever they are, and back again.
import { button, el } from "./dom.js";

/**
 * A part of the form: what it shows, and what it holds now.
 * @typedef {{root: HTMLElement, value: () => any}} Part
 */

const LABELS = {
  pairs: "Questions and answers",
  question: "Question",
  answer: "Answer",
  subject: "Subject",
  preheader: "Preview text",
  paragraphs: "Paragraphs",
  callToAction: "Request to the reader",
  sentences: "Sentences",
};
const ONE = { pairs: "pair", paragraphs: "paragraph", sentences: "sentence" };
const LONG = new Set(["answer", "paragraphs", "sentences", "text", "body"]);

let made = 0;

/** @param {string} name a field's name as it is stored */
const labelOf = (name) => {
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return LABELS[name] || words.charAt(0).toUpperCase() + words.slice(1);
};

/**
 * @param {Record<string, any>} content
 * @param {() => void} changed called when something was added, removed or moved
 * @returns {Part}
 */
export function fieldsOf(content, changed) {
  const parts = Object.entries(content).map(([name, value]) => [name, part(name, value, changed)]);
  return {
    root: el("div", { class: "fields" }, ...parts.map(([, each]) => each.root)),
    value: () => Object.fromEntries(parts.map(([name, each]) => [name, each.value()])),
  };
}

/** @param {string} name @param {any} value @param {() => void} changed @returns {Part} */
function part(name, value, changed) {
  if (typeof value === "string") return textPart(labelOf(name), value, name);
  if (typeof value === "boolean") return checkPart(labelOf(name), value);
  if (Array.isArray(value) && value.length && isListOfParts(value)) {
    return listPart(name, value, changed);
  }
  if (isRecord(value)) return groupPart(labelOf(name), value, changed);
  return jsonPart(labelOf(name), value);
}

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isListOfParts = (list) =>
  list.every((each) => typeof each === "string") || list.every(isRecord);

/** @returns {Part} */
function textPart(label, value, name) {
  const id = `field-${++made}`;
  const long = LONG.has(name) || value.length > 90 || value.includes("\n");
  const box = long ? el("textarea", { id, rows: "3" }) : el("input", { id, type: "text" });
  box.value = value;
  box.dir = "auto";
  box.dataset.field = name;
  return {
    root: el("div", { class: "field" }, el("label", { for: id }, label), box),
    value: () => box.value,
  };
}

/** @returns {Part} */
function checkPart(label, value) {
  const box = el("input", { type: "checkbox" });
  box.checked = value;
  return {
    root: el("label", { class: "check" }, box, el("span", {}, label)),
    value: () => box.checked,
  };
}

/** What has no form of its own is written as JSON; what is not JSON goes to the server as text. */
function jsonPart(label, value) {
  const inner = textPart(`${label} (JSON)`, JSON.stringify(value), "text");
  return {
    root: inner.root,
    value: () => {
      try {
        return JSON.parse(inner.value());
      } catch {
        return inner.value();
      }
    },
  };
}

/** @returns {Part} */
function groupPart(label, value, changed) {
  const inner = fieldsOf(value, changed);
  return {
    root: el("fieldset", { class: "group" }, el("legend", {}, label), inner.root),
    value: inner.value,
  };
}

/** A list whose items can be added and removed. @returns {Part} */
function listPart(name, items, changed) {
  const one = ONE[name] || "item";
  const empty = typeof items[0] === "string" ? "" : emptied(items[0]);
  /** @type {{part: Part, root: HTMLElement}[]} */
  let held = [];
  const list = el("ol", { class: "items" });
  const more = button(`Add a ${one}`, () => {
    add(empty);
    renumber();
    held.at(-1).root.querySelector("input, textarea")?.focus();
    changed();
  });

  const add = (value) => {
    const inner =
      typeof value === "string" ? textPart("", value, name) : fieldsOf(value, changed);
    const legend = el("legend", {});
    const item = { part: inner, root: el("li", {}) };
    const remove = button("Remove", () => {
      const place = held.indexOf(item);
      held = held.filter((each) => each !== item);
      item.root.remove();
      renumber();
      const next = held[Math.min(place, held.length - 1)];
      (next?.root.querySelector("input, textarea") || more).focus();
      changed();
    }, { class: "quiet tiny" });
    item.root.append(el("fieldset", { class: "group" }, legend, inner.root, remove));
    held.push(item);
    list.append(item.root);
  };

  const renumber = () => {
    const title = one.charAt(0).toUpperCase() + one.slice(1);
    held.forEach((item, place) => {
      const told = `${title} ${place + 1}`;
      item.root.querySelector("legend").textContent = told;
      item.root.querySelector(".tiny:last-of-type").setAttribute("aria-label", `Remove ${told}`);
      const alone = item.root.querySelector(".field > label:empty");
      if (alone) alone.nextElementSibling.setAttribute("aria-label", told);
    });
  };

  items.forEach(add);
  renumber();
  return {
    root: el("fieldset", { class: "list" }, el("legend", {}, labelOf(name)), list, more),
    value: () => held.map((item) => item.part.value()),
  };
}

/** The same fields with nothing in them. */
const emptied = (record) =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, typeof value === "boolean" ? false : ""]),
  );
