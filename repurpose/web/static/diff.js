// Changes as a reader sees them: what went is struck through, what came is underlined, and both
// say so to screen readers.
import { el } from "./dom.js";

/** @typedef {["equal" | "insert" | "delete", string]} Change */

/** @param {Change[]} changes @param {string | null} [language] */
export function diffText(changes, language) {
  const parts = changes.map(([kind, text]) => {
    if (kind === "equal") return text;
    const tag = kind === "insert" ? "ins" : "del";
    const said = kind === "insert" ? "added: " : "removed: ";
    return el(tag, {}, el("span", { class: "sr-only" }, ` ${said}`), text);
  });
  const made = el("p", { class: "diff", dir: "auto" }, ...parts);
  if (language) made.lang = language;
  return made;
}

/** @param {Change[]} changes @returns {boolean} */
export const same = (changes) => changes.every(([kind]) => kind === "equal");
