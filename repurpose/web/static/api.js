// The one place that talks to the server.

/** What the server said no to, in its own words. */
export class ApiError extends Error {
  /** @param {number} status @param {{kind?: string, message?: string, hint?: string, field?: string}} said */
  constructor(status, said) {
    super(said.message || `the server answered ${status}`);
    this.status = status;
    this.kind = said.kind || "";
    this.hint = said.hint || "";
    this.field = said.field || "";
  }

  /** Message and hint as one text. */
  get told() {
    const message = sentence(this.message);
    if (!this.hint) return message;
    return `${message}${/[.!?]$/.test(message) ? "" : "."} ${sentence(this.hint)}`;
  }
}

/** With a capital, if it begins with a word and not with a name, an address or a flag. */
const sentence = (text) =>
  /^[a-z]+[\s,']/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;

const csrf = () => document.querySelector('meta[name="csrf"]')?.getAttribute("content") || "";

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (fault) {
    if (fault instanceof DOMException && fault.name === "AbortError") throw fault;
    throw new ApiError(0, { kind: "connection", message: "the server cannot be reached", hint: "is repurpose serve still running?" });
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, body?.error || {});
  return body;
}

/** @param {string} path @param {AbortSignal} [signal] */
export const get = (path, signal) => ask(path, { signal });

/** @param {string} path @param {object} body @param {AbortSignal} [signal] */
export const post = (path, body = {}, signal) =>
  ask(path, {
    method: "POST",
    signal,
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf() },
    body: JSON.stringify(body),
  });

/** @param {File} file */
export function upload(file) {
  const form = new FormData();
  form.append("file", file, file.name);
  return ask("/api/uploads", { method: "POST", headers: { "X-CSRF-Token": csrf() }, body: form });
}

/** @param {string} run @param {...string} rest */
export const runPath = (run, ...rest) =>
  ["/api/runs", encodeURIComponent(run), ...rest.map(encodeURIComponent)].join("/");

/** @param {string} row @param {string} what */
export const rowPath = (row, what) => `/api/rows/${encodeURIComponent(row)}/${what}`;
