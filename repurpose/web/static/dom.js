// Elements made without parsing HTML: whatever a model, a source or a title says stays text.

/**
 * An element. Texts among the children become text nodes.
 * @param {string} tag
 * @param {Record<string, string | boolean | null | undefined>} [attributes] `true` sets an empty one
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * A button that does one thing.
 * @param {string} text @param {() => void} act
 * @param {Record<string, string | boolean | null | undefined>} [attributes]
 */
export function button(text, act, attributes = {}) {
  const made = el("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

/** Show a message in an element that is hidden while there is none. */
export function say(place, text) {
  place.textContent = text || "";
  place.hidden = !text;
}

/** Tell screen readers something once; other readers see it where it stands. */
export function announce(text) {
  const place = byId("announcer");
  if (place) place.textContent = text;
}

/** @param {string} text @returns {string | null} the address, if it is one that may be a link */
export function webAddress(text) {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}

const ADDRESS = /https?:\/\/[^\s<>"“”«»]+/gi;
const AFTER = /[.,;:!?'’)\]}…]+$/;

/**
 * A text whose web addresses are links and whose rest is text.
 * @param {string} text @returns {(Node | string)[]}
 */
export function withLinks(text) {
  const parts = [];
  let told = 0;
  for (const found of text.matchAll(ADDRESS)) {
    const written = found[0].replace(AFTER, "");
    const href = webAddress(written);
    if (!href) continue;
    parts.push(text.slice(told, found.index));
    parts.push(el("a", { href, rel: "noopener noreferrer", target: "_blank" }, written));
    told = found.index + written.length;
  }
  parts.push(text.slice(told));
  return parts;
}

/**
 * A number with its word.
 * @param {number} count @param {string} word @param {string} [many]
 */
export const counted = (count, word, many = `${word}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? word : many}`;

/** @param {string | null | undefined} iso @returns {string} in the reader's own time */
export function when(iso) {
  const time = iso ? new Date(iso) : null;
  if (!time || Number.isNaN(time.getTime())) return "";
  return time.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
