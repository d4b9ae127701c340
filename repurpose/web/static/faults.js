// What is wrong with the form, told beside the field that caused it.
import { byId, el, say } from "./dom.js";

/** Something that the form itself finds. */
export class Fault extends Error {
  /** @param {string} field @param {string} message */
  constructor(field, message) {
    super(message);
    this.field = field;
    this.kind = "";
  }

  get told() {
    return this.message;
  }
}

/** Words of the server's messages, where it does not name a field. */
const SIGNS = [
  ["platforms", /platform/i],
  ["language", /language/i],
  ["voice", /\bvoice/i],
  ["composite", /composite|section/i],
  ["model", /\bmodel|api key|base.url/i],
  ["formats", /\bformat/i],
];
const WAYS = { text: "text", file: "file", url: "url" };
const SOURCE = /source|text|url|address|host|upload|file|fetch|robots|empty|characters/i;

/**
 * Show it, and move the focus there.
 * @param {{field: string, kind: string, message: string, told: string, status?: number}} fault
 * @param {"text" | "file" | "url"} way how the source is given
 */
export function showFault(fault, way) {
  const field = place(fault, way);
  const told = fault.told;
  if (!field || field.closest("[hidden]")) {
    const whole = byId("form-error");
    say(whole, told);
    whole.focus();
    return;
  }
  const id = `${field.id}-error`;
  byId(id)?.remove();
  // Focus on the field makes it heard; a live region as well would say it twice.
  const shown = el("p", { class: "field-error", id }, told);
  if (field.matches(".picks")) field.before(shown);
  else field.after(shown);
  const target = field.matches("input, textarea, select") ? field : field.querySelector("input");
  target.setAttribute("aria-invalid", "true");
  target.dataset.describedBefore ??= target.getAttribute("aria-describedby") || "";
  target.setAttribute("aria-describedby", `${id} ${target.dataset.describedBefore}`.trim());
  target.focus();
}

/** @param {HTMLElement} form */
export function clearFaults(form) {
  say(byId("form-error"), "");
  for (const each of form.querySelectorAll(".field-error")) each.remove();
  for (const each of form.querySelectorAll("[aria-invalid]")) {
    each.removeAttribute("aria-invalid");
    const before = each.dataset.describedBefore;
    if (before) each.setAttribute("aria-describedby", before);
    else each.removeAttribute("aria-describedby");
  }
}

/** @returns {HTMLElement | null} the field or the group of boxes */
function place({ field, kind, message, status }, way) {
  if (status === 0) return null;
  const named = { upload: "file", formats: "format-picks" };
  const top = (field || "").split(".")[0];
  if (top) return byId(named[top] || top);
  if (kind === "source" || status === 413) return byId(WAYS[way]);
  const [found] = SIGNS.find(([, sign]) => sign.test(message)) || [];
  if (found) return byId(named[found] || found);
  return SOURCE.test(message) ? byId(WAYS[way]) : null;
}
