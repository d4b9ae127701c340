// "Where does the source say this?": the sentences of a text, each leading to its passage.
import { button, el } from "./dom.js";

/** @typedef {import("./source.js").Citation} Citation */
/** @typedef {import("./words.js").Row} Row */

/**
 * @param {Row} row
 * @param {Citation[]} citations
 * @param {(citation: Citation | null, told: string) => void} show
 * @returns {HTMLElement}
 */
export function whereList(row, citations, show) {
  const list = el("ol", { class: "sentences" });
  const some = citations.length > 0;
  for (const sentence of sentencesOf(row)) {
    const found = some ? citationsFor(sentence, citations) : [];
    let turn = 0;
    const choose = () => {
      for (const each of list.querySelectorAll("[aria-current]")) each.removeAttribute("aria-current");
      made.setAttribute("aria-current", "true");
      if (!found.length) {
        show(null, "No passage of the source is stored for this sentence.");
        return;
      }
      const place = turn++ % found.length;
      const of = found.length > 1 ? ` Passage ${place + 1} of ${found.length}; choose again for the next.` : "";
      show(found[place], of.trim());
    };
    const made = button(sentence, choose, { class: `sentence ${found.length ? "backed" : "bare"}`, dir: "auto" });
    if (row.language) made.lang = row.language;
    const note = found.length || !some ? null : el("span", { class: "muted" }, " no passage stored");
    list.append(el("li", {}, made, note));
  }
  return el(
    "div",
    {},
    el(
      "p",
      { class: "muted" },
      some
        ? "Choose a sentence to see the passage that it was taken from."
        : "No passages of the source are stored for this text.",
    ),
    list,
  );
}

/** @param {Row} row @returns {string[]} */
export function sentencesOf(row) {
  const sentences = row.content?.sentences;
  if (Array.isArray(sentences) && sentences.every((each) => typeof each === "string")) {
    return sentences;
  }
  const text = row.text || "";
  const segmenter = segmenterFor(row.language);
  return text
    .split(/\n+/)
    .flatMap((line) => [...segmenter.segment(line)].map((each) => each.segment.trim()))
    .filter((each) => /[\p{L}\p{N}]/u.test(each));
}

/** The language's own rules, or the browser's where it does not know the language. */
function segmenterFor(language) {
  try {
    return new Intl.Segmenter(language || undefined, { granularity: "sentence" });
  } catch {
    return new Intl.Segmenter(undefined, { granularity: "sentence" });
  }
}

/**
 * The stored passages that a sentence was taken from: one holds the other, letter for letter but
 * for white space and the kind of quotation marks. Nothing is guessed.
 * @param {string} sentence @param {Citation[]} citations
 */
export function citationsFor(sentence, citations) {
  const wanted = plain(sentence);
  return citations.filter((citation) => {
    const passage = plain(citation.text);
    return passage.length > 0 && (passage.includes(wanted) || wanted.includes(passage));
  });
}

/** @param {string} text */
const plain = (text) =>
  text
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, " ")
    .trim();
