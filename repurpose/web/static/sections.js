// One section on the page: built once, then brought up to date in place, so that neither focus nor
// what somebody is typing is lost when news come.
import { copyWith, download } from "./clipboard.js";
import { byId, counted, el, say, when } from "./dom.js";
import { editor } from "./editor.js";
import { draft } from "./drafts.js";
import { preview, writing } from "./preview.js";
import { whereList } from "./where.js";
import { lengthTold, marksOf } from "./words.js";

/** @typedef {import("./words.js").Section} Section */
/** @typedef {import("./reducer.js").SectionState} SectionState */

/**
 * What a section needs of its page.
 * @typedef {object} Desk
 * @property {string} run
 * @property {() => string | undefined} by
 * @property {() => boolean} live
 * @property {(name: string) => boolean} expected whether a new text for the section was asked for
 * @property {ReturnType<import("./source.js").sourcePanel>} source
 * @property {(section: Section) => void} regenerate
 * @property {(section: Section) => void} history
 * @property {(section: Section) => void} compare
 * @property {(section: Section, place: (text: string) => void) => void} decide approve or release
 * @property {() => void} changed
 */

let made = 0;

/** @param {string} name @param {Desk} desk */
export function sectionView(name, desk) {
  const root = byId("section-template").content.firstElementChild.cloneNode(true);
  const find = (selector) => root.querySelector(selector);
  const [head, panel, body] = [find("h2"), find(".panel"), find(".section-body")];
  head.id = `section-${++made}`;
  root.setAttribute("aria-labelledby", head.id);
  root.tabIndex = -1;

  /** @type {Section | null} */
  let section = null;
  let shownRow = "";
  /** @type {ReturnType<typeof editor> | null} */
  let editing = null;
  let frame = 0;

  const act = {
    copy: (pressed) => copyWith(pressed, section.row.text || ""),
    download: () => download(`${fileName(`${desk.run}-${name}`)}.txt`, `${section.row.text}\n`),
    edit: () => edit(),
    approve: () => desk.decide(section, (text) => say(find(".section-error"), text)),
    regenerate: () => desk.regenerate(section),
    history: () => desk.history(section),
    compare: () => desk.compare(section),
    where: () => toggleWhere(),
  };
  for (const each of root.querySelectorAll("[data-do]")) {
    each.addEventListener("click", () => act[each.dataset.do](each));
  }

  /** @param {any} [start] a text or content to begin with */
  function edit(start) {
    if (editing) {
      editing.focus();
      return;
    }
    closeWhere();
    editing = editor({
      run: desk.run,
      section,
      row: section.row,
      start,
      by: desk.by,
      saved: desk.changed,
      closed() {
        editing = null;
        panel.replaceChildren();
        panel.hidden = true;
        body.hidden = false;
        shownRow = "";
        show();
        find('[data-do="edit"]').focus();
      },
    });
    panel.replaceChildren(editing.root);
    panel.hidden = false;
    body.hidden = true;
    show();
    editing.focus();
  }

  function toggleWhere() {
    if (panel.dataset.shows === "where") {
      closeWhere();
      return;
    }
    const cited = section.row.citations?.length ? section.row.citations : section.row.quotes || [];
    panel.replaceChildren(whereList(section.row, cited, (one, told) => desk.source.show(one, told)));
    panel.dataset.shows = "where";
    panel.hidden = false;
    // The sentences are the text once more.
    body.hidden = true;
    find('[data-do="where"]').setAttribute("aria-expanded", "true");
    desk.source.show(null, cited.length ? "" : "No passages are stored for this text.");
  }

  function closeWhere() {
    if (panel.dataset.shows !== "where") return;
    delete panel.dataset.shows;
    panel.replaceChildren();
    panel.hidden = true;
    body.hidden = false;
    find('[data-do="where"]').setAttribute("aria-expanded", "false");
  }

  /** @type {SectionState | null} */
  let state = null;

  function show() {
    const row = section?.row || null;
    const phase = phaseOf(row, state, desk, name);
    head.textContent = section?.label || state?.displayLabel || name;
    root.dataset.phase = phase;
    root.setAttribute("aria-busy", String(phase === "writing"));
    find(".state").textContent = PHASES[phase];
    find(".state").className = `state ${phase}`;
    showFacts(row, phase);
    showBody(row, phase);
    showActions(row, phase);
  }

  function showFacts(row, phase) {
    const measures = phase === "failed" ? null : row?.measures;
    const limit = measures?.max_length ?? section?.limit;
    find(".length").textContent = measures
      ? lengthTold(measures.length, limit, measures.unit)
      : limit && phase !== "failed"
        ? `up to ${lengthTold(limit, null, section.unit)}`
        : "";
    const meter = find(".meter");
    meter.hidden = !measures || !limit;
    if (measures && limit) {
      const share = (100 * measures.length) / limit;
      meter.classList.toggle("full", share > 100);
      meter.firstElementChild.style.inlineSize = `${Math.min(100, share)}%`;
    }
    const marks = row && phase !== "failed" ? marksOf(row) : [];
    find(".marks").replaceChildren(...marks.map(([kind, told]) => el("li", { class: `mark ${kind}` }, told)));
    find(".marks").hidden = !marks.length;
    const notes = row?.notes || [];
    find(".findings-part").hidden = !notes.length;
    find(".findings-part summary").textContent = counted(notes.length, "finding");
    find(".findings").replaceChildren(...notes.map((note) => el("li", { dir: "auto" }, note)));
    find(".proposal-note").hidden = !section?.proposal;
    find(".provenance").textContent = row
      ? [`Revision ${row.revision}`, row.provenance, when(row.created_at)].filter(Boolean).join(" · ")
      : "";
  }

  function showBody(row, phase) {
    const beside = phase === "writing" && Boolean(row?.locked || editing);
    find(".live").hidden = !beside || !state?.accumulatedText;
    if (phase === "writing") {
      // What is there stays until there is something new, and locked text stays anyway.
      if (row && (beside || !state?.accumulatedText)) keepShowing(row);
      else shownRow = "";
      if (state?.accumulatedText || !row) write(beside ? find(".live-text") : body);
      return;
    }
    cancelAnimationFrame(frame);
    frame = 0;
    const key = row ? `${row.id} ${phase}` : `${phase} ${state?.accumulatedText.length ?? ""}`;
    if (key === shownRow) return;
    shownRow = key;
    find(".live-text").replaceChildren();
    if (phase === "failed") body.replaceChildren(el("p", { class: "failure", dir: "auto" }, row.message));
    else if (row) place(row, key);
    else if (state?.accumulatedText) writing(section, body, state.accumulatedText);
    else body.replaceChildren(el("p", { class: "muted" }, EMPTY[phase] || "(no content)"));
  }

  function keepShowing(row) {
    if (shownRow !== `${row.id} kept`) place(row, `${row.id} kept`);
  }

  function place(row, key) {
    shownRow = key;
    body.replaceChildren(preview(section, row));
    if (panel.dataset.shows === "where") {
      closeWhere();
      toggleWhere();
    }
  }

  /** Deltas may come faster than a screen shows them. */
  function write(where) {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => writing(section, where, state?.accumulatedText || ""));
  }

  function showActions(row, phase) {
    const usable = Boolean(row?.text) && row.status === "done";
    for (const what of ["copy", "download", "edit", "approve", "where"]) {
      find(`[data-do="${what}"]`).hidden = !usable || Boolean(editing);
    }
    find('[data-do="approve"]').textContent = row?.locked ? "Release" : "Approve";
    find('[data-do="regenerate"]').hidden = !row || Boolean(editing);
    find('[data-do="regenerate"]').disabled = phase === "writing";
    find('[data-do="history"]').hidden = !row || Boolean(editing);
  }

  return {
    root,
    name,
    /** @param {Section | null} told @param {SectionState | null} heard */
    update(told, heard) {
      const first = !section && told?.row;
      section = told || section;
      state = heard;
      show();
      // Typing that a reload interrupted goes on where it was.
      if (first && !editing && draft(desk.run, name) && told.row.status === "done") edit();
    },
    edit,
    get editing() {
      return editing !== null;
    },
    get phase() {
      return root.dataset.phase;
    },
    get label() {
      return head.textContent;
    },
  };
}

const PHASES = {
  waiting: "Waiting",
  writing: "Writing…",
  done: "Done",
  failed: "Failed",
  stopped: "Not made",
};

const EMPTY = { waiting: "Its turn comes.", stopped: "Nothing was made." };

/** @returns {keyof typeof PHASES} */
function phaseOf(row, state, desk, name) {
  if (state?.status === "streaming" && (desk.live() || desk.expected(name))) return "writing";
  if (row) return row.status === "failed" ? "failed" : desk.expected(name) ? "writing" : "done";
  if (state?.status === "completed") return desk.live() ? "writing" : "done";
  return desk.live() ? "waiting" : "stopped";
}

/** Our own ids, without what a file system may refuse. */
const fileName = (text) => text.replace(/[^\w.-]+/g, "-");
