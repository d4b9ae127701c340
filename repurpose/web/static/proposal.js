// A locked text and the one that was written beside it: what each made of the text before.
import { ApiError, get, post, rowPath } from "./api.js";
import { diffText } from "./diff.js";
import { announce, byId, el, say } from "./dom.js";
import { closable } from "./sure.js";
import { deed } from "./words.js";

/** @typedef {import("./words.js").Section} Section */

/**
 * @param {object} on
 * @param {() => string | undefined} on.by
 * @param {() => void} on.changed
 * @param {(section: Section) => void} on.edit opens the editor with the proposed text
 * @returns {(section: Section) => Promise<void>} shows the choice for a section
 */
export function proposalOf(on) {
  const dialog = byId("proposal-dialog");
  /** @type {Section} */
  let shown;
  closable(dialog);

  const takes = {
    mine: async () => {
      // A decision that is newer than the proposal settles it; approving twice would decide nothing.
      const { id, action } = shown.row;
      const again = action === "approved";
      const row = again ? (await post(rowPath(id, "release"), { by: on.by() })).row.id : id;
      return post(rowPath(row, "approve"), { by: on.by() });
    },
    theirs: () => post(rowPath(shown.proposal.id, "restore"), { by: on.by() }),
  };
  for (const each of dialog.querySelectorAll("[data-take]")) {
    each.addEventListener("click", async () => {
      if (each.dataset.take === "edit") {
        dialog.close();
        on.edit(shown);
        return;
      }
      await told(async () => {
        await takes[each.dataset.take]();
        dialog.close();
        announce(`${shown.label}: ${each.dataset.take === "mine" ? "kept yours" : "took theirs"}`);
        on.changed();
      });
    });
  }

  async function told(act) {
    say(byId("proposal-error"), "");
    try {
      await act();
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      say(byId("proposal-error"), fault.told);
    }
  }

  return async (section) => {
    shown = section;
    const { row, proposal } = section;
    byId("proposal-what").textContent =
      `${section.label}: yours is ${lowered(deed(row))}; theirs was written` +
      (proposal.instruction ? ` for “${proposal.instruction}”.` : " anew.");
    const three = byId("proposal-three");
    three.replaceChildren(el("p", { class: "muted" }, "Loading…"));
    dialog.showModal();
    await told(async () => {
      const path = `${rowPath(row.id, "diff")}?with=${encodeURIComponent(proposal.id)}`;
      const found = await get(path);
      const plain = (text) => el("p", { class: "diff", dir: "auto" }, text);
      const column = (title, text, focus = false) =>
        el("section", { class: focus ? "chosen" : "" }, el("h3", {}, title), text);
      three.replaceChildren(
        column("Both began with", plain(textOf(found.base))),
        column("Mine", diffText(found.changes.mine, row.language), true),
        column("Theirs", diffText(found.changes.theirs, row.language)),
      );
    });
  };
}

/** The base is a text, or a row that has one. */
const textOf = (base) => (typeof base === "string" ? base : base?.text) || "";

/** `Edited by Ann` in the midst of a sentence. */
const lowered = (text) => text.charAt(0).toLowerCase() + text.slice(1);
