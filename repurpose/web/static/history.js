// The revisions of a section, what changed between them, and the way back.
import { ApiError, get, post, rowPath, runPath } from "./api.js";
import { diffText, same } from "./diff.js";
import { announce, button, byId, el, say, when } from "./dom.js";
import { closable } from "./sure.js";
import { deed } from "./words.js";

/** @typedef {import("./words.js").Row} Row */

/**
 * @param {object} on
 * @param {string} on.run
 * @param {() => string | undefined} on.by
 * @param {() => void} on.changed
 * @returns {(section: import("./words.js").Section) => Promise<void>} shows a section's history
 */
export function historyOf(on) {
  const dialog = byId("history-dialog");
  const part = byId("history-diff");
  closable(dialog);

  /** @param {Row} row @param {Row} current */
  async function compare(row, current) {
    const path = `${rowPath(current.id, "diff")}?with=${encodeURIComponent(row.id)}`;
    await told(async () => {
      const { changes, theirs } = await get(path);
      const from = `revision ${row.revision}`;
      // A proposed text did not grow out of the current one: both came from a third.
      const shown = theirs === null || theirs === undefined ? changes.mine : changes.theirs;
      byId("history-diff-name").textContent =
        shown === changes.mine
          ? `From ${from} to the current one`
          : `From the text that was edited to ${from}`;
      byId("history-diff-text").replaceChildren(
        same(shown) ? el("p", {}, "The texts are the same.") : diffText(shown, current.language),
      );
      part.hidden = false;
      part.focus();
    });
  }

  /** @param {Row} row @param {string} label */
  async function restore(row, label) {
    await told(async () => {
      await post(rowPath(row.id, "restore"), { by: on.by() });
      dialog.close();
      announce(`${label}: revision ${row.revision} restored`);
      on.changed();
    });
  }

  async function told(act) {
    say(byId("history-error"), "");
    try {
      await act();
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      say(byId("history-error"), fault.told);
    }
  }

  return async (section) => {
    byId("history-name").textContent = `History of ${section.label}`;
    byId("revisions").replaceChildren(el("li", { class: "muted" }, "Loading…"));
    part.hidden = true;
    dialog.showModal();
    await told(async () => {
      const { revisions } = await get(runPath(on.run, "sections", section.name, "history"));
      const current = revisions.find((row) => row.id === section.row?.id);
      byId("revisions").replaceChildren(
        ...revisions.map((row) => revision(row, current, section.label)),
      );
    });
  };

  /** @param {Row} row @param {Row | undefined} current @param {string} label */
  function revision(row, current, label) {
    const here = row.id === current?.id;
    const usable = row.status === "done";
    const act = el("div", { class: "act" });
    const name = `revision ${row.revision}`;
    if (!here && usable && current?.status === "done") {
      act.append(button("Compare", () => compare(row, current), { "aria-label": `Compare ${name} with the current one` }));
    }
    if (!here && usable) {
      act.append(button("Restore", () => restore(row, label), { "aria-label": `Restore ${name}` }));
    }
    return el(
      "li",
      { class: "revision" },
      el(
        "p",
        { class: "revision-head" },
        el("strong", {}, `${row.revision}. ${deed(row)}`),
        here ? el("span", { class: "mark locked" }, "Current") : null,
        el("span", { class: "muted" }, ` ${when(row.created_at)}`),
      ),
      row.instruction ? el("p", { class: "muted", dir: "auto" }, `Asked for: ${row.instruction}`) : null,
      el("p", { class: "revision-text", dir: "auto" }, row.text || row.message),
      act,
    );
  }
}
