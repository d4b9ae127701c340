// Texts leave the page by the clipboard or as a file; never by a request.
import { announce, button, el } from "./dom.js";

/** @param {string} text @returns {Promise<boolean>} whether it is in the clipboard now */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

/** The old way, for pages that are not on this machine and have no encryption. */
function copiedByHand(text) {
  const box = el("textarea", { class: "sr-only", "aria-hidden": "true", tabindex: "-1" });
  box.value = text;
  const before = document.activeElement;
  (document.querySelector("dialog[open]") || document.body).append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

/**
 * Copy, and say so on the button itself for a moment.
 * @param {HTMLElement} pressed @param {string} text
 */
export async function copyWith(pressed, text) {
  const done = await copy(text);
  const told = done ? "Copied" : "Cannot copy here";
  pressed.dataset.label ||= pressed.textContent;
  pressed.textContent = told;
  announce(told);
  clearTimeout(Number(pressed.dataset.timer));
  pressed.dataset.timer = String(
    setTimeout(() => {
      pressed.textContent = pressed.dataset.label;
    }, 1500),
  );
}

/** A small button that copies one part. @param {string} what for screen readers */
export function copyButton(text, what) {
  const word = el("span", {}, "Copy");
  const made = button("", () => copyWith(word, text), { class: "quiet tiny" });
  made.append(word, el("span", { class: "sr-only" }, ` ${what}`));
  return made;
}

/** @param {string} name @param {string} text */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
