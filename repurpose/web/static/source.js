// The source beside the texts, and the passage in it that a sentence rests on.
import { ApiError, get, runPath } from "./api.js";
import { byId, el } from "./dom.js";

/** @typedef {{text: string, start: number, end: number, label?: string | null}} Citation */
/** @typedef {{kind: string, start: number, end: number, headings: string[], page: number | null, time: number | null}} Block */

/**
 * The panel for a run's source; it is fetched when it is first needed.
 * @param {string} run
 */
export function sourcePanel(run) {
  const panel = byId("source-panel");
  const place = byId("source-text");
  /** @type {{text: string, title: string, blocks: Block[], at: (offset: number) => number} | null} */
  let held = null;
  /** @type {{block: Block, root: HTMLElement}[]} */
  let shown = [];
  let opener = null;

  byId("source-close").addEventListener("click", close);
  byId("source-open").addEventListener("click", () => (panel.hidden ? open(null) : close()));
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });

  function close() {
    shownIs(false);
    if (opener?.isConnected) opener.focus();
    remember("closed");
  }

  function shownIs(open) {
    panel.hidden = !open;
    document.body.classList.toggle("with-source", open);
    byId("source-open").setAttribute("aria-expanded", String(open));
    byId("source-open").textContent = open ? "Hide the source" : "Show the source";
  }

  async function load() {
    if (held) return;
    const found = await get(runPath(run, "source"));
    const at = unitsOf(found.text);
    held = { ...found, at };
    const blocks = found.blocks?.length
      ? found.blocks
      : [{ kind: "paragraph", start: 0, end: Number.MAX_SAFE_INTEGER, headings: [], page: null, time: null }];
    shown = blocks.map((block) => ({ block, root: el(block.kind === "heading" ? "h3" : "p", { class: `block ${block.kind}`, dir: "auto" }) }));
    for (const each of shown) each.root.textContent = textIn(each.block.start, each.block.end);
    place.replaceChildren(...shown.map((each) => each.root));
    byId("source-facts").textContent = found.title || "";
  }

  function clear() {
    for (const { block, root } of shown) {
      if (root.querySelector("mark")) root.textContent = textIn(block.start, block.end);
    }
  }

  /** Offsets are counted in code points. */
  const textIn = (start, end) => held.text.slice(held.at(start), held.at(end));

  /** @param {Citation} citation @returns {boolean} whether the passage is in the text */
  function mark(citation) {
    clear();
    const { start, end } = citation;
    const hit = shown.filter(({ block }) => block.start < end && start < block.end);
    for (const { block, root } of hit) {
      const from = Math.max(start, block.start);
      const to = Math.min(end, block.end);
      root.replaceChildren(
        textIn(block.start, from),
        el("mark", {}, textIn(from, to)),
        textIn(to, block.end),
      );
    }
    const first = place.querySelector("mark");
    if (first) {
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const top = first.getBoundingClientRect().top - place.getBoundingClientRect().top;
      place.scrollTo({
        top: place.scrollTop + top - place.clientHeight / 3,
        behavior: calm ? "auto" : "smooth",
      });
    }
    return first !== null;
  }

  const tell = (text) => {
    byId("source-told").textContent = text;
  };

  /**
   * @param {Citation | null} citation null shows the source as it is
   * @param {string} [told]
   */
  async function open(citation, told = "") {
    if (panel.hidden) opener = document.activeElement;
    shownIs(true);
    remember("open");
    try {
      await load();
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      tell(fault.told);
      return;
    }
    if (!citation) clear();
    const where = citation?.label ? `In “${citation.label}”. ` : "";
    if (citation && !mark(citation)) tell("The passage is not in the stored text any more.");
    else tell(citation ? where + told : told);
  }

  // Where there is room for it, it stands beside the texts from the first, unless it was closed.
  if (matchMedia("(min-width: 84rem)").matches && remembered() !== "closed") open(null);
  return { show: open };
}

const remembered = () => {
  try {
    return localStorage.getItem("source");
  } catch {
    return null;
  }
};

const remember = (how) => {
  try {
    localStorage.setItem("source", how);
  } catch {
    // Forgotten with the page.
  }
};

/**
 * From offsets in code points to those of the browser, which counts an emoji as two.
 * @param {string} text @returns {(offset: number) => number}
 */
export function unitsOf(text) {
  /** Code point offsets after each character that counts double, in order. @type {number[]} */
  const doubles = [];
  let points = 0;
  for (let unit = 0; unit < text.length; unit += 1, points += 1) {
    const code = text.codePointAt(unit);
    if (code > 0xffff) {
      doubles.push(points + 1);
      unit += 1;
    }
  }
  return (offset) => {
    let low = 0;
    let high = doubles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (doubles[middle] <= offset) low = middle + 1;
      else high = middle;
    }
    return Math.min(text.length, offset + low);
  };
}
