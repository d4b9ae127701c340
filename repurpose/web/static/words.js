// What the facts of a row are called for a reader.
import { counted } from "./dom.js";

/**
 * A stored row, as far as the page reads it.
 * @typedef {object} Row
 * @property {string} id
 * @property {string} label
 * @property {string} variant
 * @property {"done" | "failed"} status
 * @property {string} message
 * @property {string | null} text
 * @property {Record<string, any> | null} content
 * @property {{length: number, unit: string, max_length: number | null, shortened: boolean, cut_mode: string, hashtags_dropped: number} | null} measures
 * @property {number} attempts
 * @property {string} provenance
 * @property {string | null} language
 * @property {string} created_at
 * @property {string[]} notes
 * @property {string | null} reused_from
 * @property {boolean} validated
 * @property {number} revision
 * @property {string} action
 * @property {string | null} author
 * @property {string | null} instruction
 * @property {boolean} locked
 * @property {{text: string, start: number, end: number, label?: string | null}[]} [citations]
 */
/**
 * A section of a run: what it is, its current row, and what was proposed beside a locked one.
 * @typedef {object} Section
 * @property {string} name
 * @property {string} label
 * @property {string} format
 * @property {string} variant
 * @property {string | null} platform
 * @property {number | null} limit
 * @property {string | null} unit
 * @property {"text" | "content"} editing
 * @property {Row | null} row
 * @property {Row | null} proposal
 */

const UNITS = {
  code_points: "character",
  utf16: "character",
  x_weighted: "weighted character",
  graphemes: "grapheme",
  mastodon: "character",
  utf8_bytes: "byte",
};

/** @param {number} count @param {string | null | undefined} unit */
export const inUnits = (count, unit) => counted(count, UNITS[unit] || unit || "character");

/** `269 of 280 weighted characters`, or without a limit `269 characters`. */
export function lengthTold(length, limit, unit) {
  if (!limit) return inUnits(length, unit);
  return `${length.toLocaleString("en")} of ${inUnits(limit, unit)}`;
}

const ACTIONS = {
  made: "Made",
  regenerated: "Regenerated",
  proposed: "Proposed",
  edited: "Edited",
  approved: "Approved",
  restored: "Restored",
  released: "Released",
};

/** What was done and by whom: `Edited by Ann`. @param {Row} row */
export function deed(row) {
  const did = ACTIONS[row.action] || row.action;
  return row.author ? `${did} by ${row.author}` : did;
}

/**
 * The marks of a row, each with the class that colors it.
 * @param {Row} row @returns {[string, string][]}
 */
export function marksOf(row) {
  const marks = [];
  const cut = row.measures;
  if (row.action !== "made") marks.push([row.locked ? "locked" : "plain", deed(row)]);
  if (cut?.shortened) {
    const where = cut.cut_mode === "sentence" ? "at a sentence end" : "at a word";
    marks.push(["warn", `Shortened ${where}`]);
  }
  if (cut?.hashtags_dropped) {
    marks.push(["warn", `${counted(cut.hashtags_dropped, "hashtag")} dropped`]);
  }
  if (row.attempts > 1) {
    marks.push(["plain", `Repaired${row.attempts > 2 ? ` ${row.attempts - 1} times` : ""}`]);
  }
  if (row.reused_from) marks.push(["plain", "Reused, no call"]);
  if (!row.validated) marks.push(["warn", "Not validated"]);
  return marks;
}
