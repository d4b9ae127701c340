// Asking for one section anew.
import { ApiError, post, runPath } from "./api.js";
import { announce, byId, counted, say } from "./dom.js";
import { closable } from "./sure.js";

/**
 * @param {object} on
 * @param {string} on.run
 * @param {() => string | undefined} on.by
 * @param {(section: import("./words.js").Section) => void} on.asked
 * @returns {(section: import("./words.js").Section, siblings: number) => void} opens the dialog
 */
export function regenerator(on) {
  const dialog = byId("regenerate-dialog");
  const form = byId("regenerate-form");
  let shown;
  closable(dialog);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const go = form.querySelector("[type=submit]");
    go.disabled = true;
    say(byId("regenerate-error"), "");
    const body = { by: on.by() };
    const instruction = byId("instruction").value.trim();
    if (instruction) body.instruction = instruction;
    if (!byId("all-variants-part").hidden) body.allVariants = byId("all-variants").checked;
    try {
      await post(runPath(on.run, "sections", shown.name, "regenerate"), body);
      byId("instruction").value = "";
      dialog.close();
      announce(`${shown.label}: asked for a new text`);
      on.asked(shown);
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      say(byId("regenerate-error"), fault.told);
    } finally {
      go.disabled = false;
    }
  });

  return (section, siblings) => {
    shown = section;
    byId("regenerate-name").textContent = `Regenerate ${section.label}`;
    byId("regenerate-what").textContent = section.row?.locked
      ? "Somebody decided on this text, so it stays; the new one is put beside it."
      : "One call. The text of now stays in the history.";
    byId("all-variants-part").hidden = siblings < 1;
    byId("all-variants-part").querySelector("span").textContent =
      `Replace the other ${counted(siblings, "post")} of the same answer as well`;
    byId("all-variants").checked = false;
    say(byId("regenerate-error"), "");
    dialog.showModal();
    byId("instruction").focus();
  };
}
