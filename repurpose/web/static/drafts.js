// What was typed and not yet saved; it outlives a lost connection and a reload of the tab.

/** @typedef {{row: string, value: any}} Draft `value` is a text, or the fields */

/** @type {Map<string, Draft>} */
const held = new Map();
const key = (run, section) => `draft ${run} ${section}`;

/** @param {string} run @param {string} section @returns {Draft | null} */
export function draft(run, section) {
  const name = key(run, section);
  if (held.has(name)) return held.get(name);
  try {
    const found = JSON.parse(sessionStorage.getItem(name) || "null");
    return typeof found?.row === "string" ? found : null;
  } catch {
    return null;
  }
}

/** @param {string} run @param {string} section @param {Draft} typed */
export function keepDraft(run, section, typed) {
  held.set(key(run, section), typed);
  try {
    sessionStorage.setItem(key(run, section), JSON.stringify(typed));
  } catch {
    // Full or forbidden: it is still in memory.
  }
}

/** @param {string} run @param {string} section */
export function dropDraft(run, section) {
  held.delete(key(run, section));
  try {
    sessionStorage.removeItem(key(run, section));
  } catch {
    // As above.
  }
}
