// How long a text is while somebody types. The server counts, so that there is one counter only.
import { post } from "./api.js";
import { el } from "./dom.js";
import { inUnits, lengthTold } from "./words.js";

const PAUSE = 80;

/**
 * A counter for a field, to stand below it.
 * @param {HTMLTextAreaElement | HTMLInputElement} field
 * @param {string} platform
 * @param {number | null} [own] the limit of this text, where its run chose another
 * @returns {{root: HTMLElement, stop: () => void}}
 */
export function counter(field, platform, own = null) {
  const told = el("span", { class: "count" });
  const over = el("span", { class: "over", role: "status" });
  const fill = el("span");
  const meter = el("span", { class: "meter", "aria-hidden": "true" }, fill);
  const root = el("p", { class: "counter", id: `${field.id}-count` }, meter, told, " ", over);
  let asked = 0;
  let timer = 0;
  /** @type {AbortController | null} */
  let before = null;

  const show = ({ length, limit: usual, unit, also }) => {
    const limit = own || usual;
    const first = Math.max(0, length - limit);
    // A platform may have a second limit, in another unit; what breaks either cannot be posted.
    const beyond = first || also?.over || 0;
    told.textContent = lengthTold(length, limit, unit);
    // Screen readers hear this one only when it changes, so it is left alone while it fits.
    over.textContent = beyond ? `${inUnits(beyond, first ? unit : also.unit)} over` : "";
    meter.hidden = !limit;
    meter.classList.toggle("full", beyond > 0);
    fill.style.inlineSize = `${Math.min(100, (100 * length) / (limit || 1))}%`;
    field.setAttribute("aria-invalid", String(beyond > 0));
    root.dataset.length = String(length);
  };

  const count = async () => {
    const number = ++asked;
    before?.abort();
    before = new AbortController();
    try {
      const counted = await post("/api/count", { platform, text: field.value }, before.signal);
      if (number === asked) show(counted);
    } catch (fault) {
      // A length that nobody counted is not shown; saving still tells what does not fit.
      if (number === asked && fault.name !== "AbortError") told.textContent = "";
    }
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(count, PAUSE);
  });
  describe(field, root.id);
  count();
  return {
    root,
    stop() {
      clearTimeout(timer);
      before?.abort();
      asked += 1;
    },
  };
}

/** @param {HTMLElement} field @param {string} id */
function describe(field, id) {
  const ids = new Set((field.getAttribute("aria-describedby") || "").split(/\s+/).filter(Boolean));
  field.setAttribute("aria-describedby", [...ids.add(id)].join(" "));
}
