// A question with two answers, in a dialog; Esc says no.
import { byId } from "./dom.js";

/**
 * @param {{title: string, what: string, yes: string, no: string}} question
 * @returns {Promise<boolean>}
 */
export function sure({ title, what, yes, no }) {
  const dialog = byId("sure-dialog");
  byId("sure-name").textContent = title;
  byId("sure-what").textContent = what;
  const [agree, refuse] = dialog.querySelectorAll("[data-sure]");
  agree.textContent = yes;
  refuse.textContent = no;
  return new Promise((answer) => {
    agree.onclick = () => dialog.close("yes");
    refuse.onclick = () => dialog.close("no");
    dialog.onclose = () => answer(dialog.returnValue === "yes");
    dialog.returnValue = "";
    dialog.showModal();
    refuse.focus();
  });
}

/** Every button of a dialog that closes it does so. @param {HTMLDialogElement} dialog */
export function closable(dialog) {
  for (const each of dialog.querySelectorAll("[data-close]")) {
    each.addEventListener("click", () => dialog.close());
  }
}
