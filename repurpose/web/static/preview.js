// A text as its readers will see it, roughly: a post on its platform, a mail in its inbox.
// Every text goes in as text, in its own language and direction.
import { copyButton } from "./clipboard.js";
import { el, withLinks } from "./dom.js";
import { lengthTold } from "./words.js";

/** @typedef {import("./words.js").Section} Section */
/** @typedef {import("./words.js").Row} Row */

/** What the head of a post looks like; platforms not named here get the plain one. */
const SHAPES = {
  x: { class: "x", handle: "@you · now" },
  linkedin: { class: "linkedin", handle: "Your role · now" },
  instagram: { class: "instagram", handle: "", picture: "Your picture" },
  facebook: { class: "facebook", handle: "now" },
  threads: { class: "threads", handle: "now" },
  bluesky: { class: "bluesky", handle: "@you.example · now" },
  mastodon: { class: "mastodon", handle: "@you@example.social · now" },
  tiktok: { class: "tiktok", handle: "@you", picture: "Your video" },
  tiktok_photo: { class: "tiktok", handle: "@you", picture: "Your pictures" },
  youtube: { class: "youtube", handle: "Your channel", picture: "Your video" },
  pinterest: { class: "pinterest", handle: "", picture: "Your picture" },
};

/**
 * The preview of a finished row.
 * @param {Section} section @param {Row} row @returns {HTMLElement}
 */
export function preview(section, row) {
  const content = row.content || {};
  const made = shapeOf(section, row, content);
  tongue(made, row.language);
  return made;
}

/** @param {Section} section @param {Row} row @param {Record<string, any>} content */
function shapeOf(section, row, content) {
  const text = row.text || "";
  if (section.platform || typeof content.unit === "string") {
    const posts = Array.isArray(content.posts) ? content.posts : [];
    if (posts.length > 1) return thread(section, posts, content);
    return post(section, content.text ?? text, content.title);
  }
  if (isFaq(content)) return faq(content.pairs);
  if (isMail(content)) return mail(content);
  return paragraphs(text, section.format === "summary" ? "summary" : "plain");
}

/**
 * Text that is still being written, shaped alike as far as that can be.
 * @param {Section | null} section @param {HTMLElement} place @param {string} text
 */
export function writing(section, place, text) {
  let body = place.querySelector("[data-text]");
  if (!body) {
    const made = section?.platform ? post(section, "", null) : paragraphs("", "plain");
    tongue(made, null);
    place.replaceChildren(made);
    body = place.querySelector("[data-text]");
  }
  body.textContent = text;
}

const isText = (value) => typeof value === "string";
const isFaq = (content) =>
  Array.isArray(content.pairs) &&
  content.pairs.every((pair) => isText(pair?.question) && isText(pair?.answer));
const isMail = (content) =>
  isText(content.subject) && Array.isArray(content.paragraphs) && content.paragraphs.every(isText);

/** Each text decides its own direction; `lang` lets it be read aloud and hyphenated rightly. */
function tongue(made, language) {
  if (language) made.setAttribute("lang", language);
  made.setAttribute("dir", "auto");
  for (const text of made.querySelectorAll("p, summary, h3, h4, [data-text]")) text.dir = "auto";
}

/** @param {Section} section @param {string} text @param {string | null | undefined} title */
function post(section, text, title, foot = null) {
  const shape = SHAPES[section.platform] || { class: "generic", handle: "now" };
  const head = el(
    "div",
    { class: "post-head" },
    el("span", { class: "avatar", "aria-hidden": "true" }),
    el("span", { class: "who" }, "Your name"),
    shape.handle && el("span", { class: "handle" }, shape.handle),
  );
  const body = el("div", { class: "post-text", "data-text": true }, ...rich(text || ""));
  return el(
    "div",
    { class: `preview post ${shape.class}` },
    head,
    shape.picture && el("div", { class: "picture", "aria-hidden": "true" }, shape.picture),
    title && el("h3", { class: "post-title" }, title),
    body,
    foot,
  );
}

/** @param {Section} section @param {{text: string, length: number}[]} posts @param {any} content */
function thread(section, posts, content) {
  const cards = posts.map((each, place) => {
    const told = lengthTold(each.length, content.max_length, content.unit);
    const what = `post ${place + 1} of ${posts.length}`;
    const foot = el("div", { class: "post-foot" }, told, copyButton(each.text, what));
    return el("li", {}, post(section, each.text, null, foot));
  });
  return el("ol", { class: "thread", "aria-label": `Thread of ${posts.length} posts` }, ...cards);
}

/** @param {{question: string, answer: string}[]} pairs */
function faq(pairs) {
  const made = pairs.map((pair, place) =>
    el(
      "details",
      { open: true },
      el("summary", {}, pair.question),
      el("p", {}, ...withLinks(pair.answer)),
      copyButton(`${pair.question}\n${pair.answer}`, `question ${place + 1}`),
    ),
  );
  return el("div", { class: "preview faq" }, ...made);
}

/** @param {Record<string, any>} content */
function mail(content) {
  const inbox = el(
    "div",
    { class: "inbox" },
    el("span", { class: "who" }, "Your newsletter"),
    el(
      "p",
      { class: "inbox-line" },
      el("strong", {}, content.subject),
      isText(content.preheader) ? el("span", { class: "muted" }, ` ${content.preheader}`) : null,
    ),
  );
  const body = el(
    "div",
    { class: "mail" },
    el("h3", {}, content.subject),
    ...content.paragraphs.map((each) => el("p", {}, ...withLinks(each))),
    isText(content.callToAction)
      ? el("p", { class: "request" }, ...withLinks(content.callToAction))
      : null,
  );
  return el("div", { class: "preview newsletter" }, inbox, body);
}

/** @param {string} text @param {string} shape */
function paragraphs(text, shape) {
  const parts = text ? text.split(/\n{2,}/).map((each) => el("p", {}, ...withLinks(each))) : [];
  return el("div", { class: `preview ${shape}`, "data-text": true }, ...parts);
}

const TAG = /(^|\s)([#@][\p{L}\p{N}_.]{1,100})/gu;

/** Links, and hashtags and mentions in the color that platforms give them. */
function rich(text) {
  return withLinks(text).flatMap((part) => (isText(part) ? tagged(part) : [part]));
}

/** @param {string} text */
function tagged(text) {
  const parts = [];
  let told = 0;
  for (const found of text.matchAll(TAG)) {
    const start = found.index + found[1].length;
    parts.push(text.slice(told, start), el("span", { class: "tag" }, found[2]));
    told = start + found[2].length;
  }
  parts.push(text.slice(told));
  return parts;
}
