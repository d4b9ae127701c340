// The page of one run: what the server has stored, what the stream tells meanwhile, and the
// sections that show both. What is stored is the truth; the stream only says it earlier.
import { ApiError, get, post, rowPath, runPath } from "./api.js";
import { announce, byId, say } from "./dom.js";
import { follow } from "./events.js";
import { historyOf } from "./history.js";
import { showContents, showHead } from "./overview.js";
import { proposalOf } from "./proposal.js";
import { NONE, inOrder, reduced, without } from "./reducer.js";
import { regenerator } from "./regenerate.js";
import { sectionView } from "./sections.js";
import { sourcePanel } from "./source.js";

/** @typedef {import("./words.js").Section} Section */

const run = byId("run").dataset.run;
/** What the server said last. @type {{run: any, source: any, sections: Section[], live: boolean} | null} */
let told = null;
let states = NONE;
let live = true;
/** Whether the stream is lost; what is asked for meanwhile does not bring it back. */
let away = false;
/** Sections that are written anew after the run. @type {Set<string>} */
const expected = new Set();
/** @type {Map<string, ReturnType<typeof sectionView>>} */
const views = new Map();
/** @type {Map<string, string>} */
const phases = new Map();

// --- who ------------------------------------------------------------------------------------------

const name = byId("by");
try {
  name.value = localStorage.getItem("by") || "";
  name.addEventListener("change", () => localStorage.setItem("by", name.value.trim()));
} catch {
  // Asked again on the next page.
}
const by = () => name.value.trim() || undefined;

// --- what is stored -------------------------------------------------------------------------------

let asking = null;
let again = false;

/** Ask for what is stored; news that come while asking are asked for once more, not each. */
function refresh() {
  if (asking) {
    again = true;
    return asking;
  }
  asking = get(runPath(run))
    .then((found) => {
      told = found;
      live = found.live;
      if (!away) say(byId("connection"), "");
      show();
    })
    .catch((fault) => {
      if (!(fault instanceof ApiError)) throw fault;
      if (fault.status) say(byId("connection"), fault.told);
    })
    .finally(() => {
      asking = null;
      if (again) {
        again = false;
        refresh();
      }
    });
  return asking;
}

// --- what is told meanwhile -----------------------------------------------------------------------

const heard = {
  section_started: ({ sectionName }) => {
    if (!live) expected.add(sectionName);
  },
  section_completed: ({ sectionName }) => {
    expected.delete(sectionName);
    refresh();
  },
  progress: (payload) => {
    const ofFormat = (told?.sections || []).filter((each) => each.format === payload.format);
    if (payload.state === "started") {
      // It is written anew, so what was heard of it before is over.
      for (const each of ofFormat) {
        if (states.get(each.name)?.status === "completed") states = without(states, each.name);
      }
    }
    if (payload.state === "ended") {
      for (const each of ofFormat) expected.delete(each.name);
      refresh();
    }
    byId("progress").textContent = progressTold(payload);
  },
  row_changed: ({ section }) => {
    expected.delete(section);
    refresh();
  },
  composite_completed: () => refresh(),
  run_ended: ({ status, message }) => {
    const wasLive = live;
    live = false;
    if (told) told = { ...told, run: { ...told.run, status }, live };
    byId("progress").textContent = status === "done" || status === "partial" ? "" : message || "";
    if (wasLive && told) announce(message || `The run ended: ${status}`);
    refresh();
  },
};

/** @param {{label: string, state: string, attempt?: number, message?: string}} payload */
function progressTold({ label, state, attempt, message }) {
  if (state === "calling") {
    return attempt > 1 ? `${label}: asking again, the answer was not right` : `${label}: asking`;
  }
  return state === "ended" ? message || `${label} ended` : `${label}: started`;
}

let frame = 0;

function line(type, payload) {
  states = reduced(states, { type, stream: run, payload }, run);
  heard[type]?.(payload);
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    show();
  });
}

function connection(isAway) {
  away = isAway;
  say(byId("connection"), away ? "Connection lost, reconnecting…" : "");
  announce(away ? "Connection lost, reconnecting" : "Connected again");
  if (!away) refresh();
}

let stream = null;

function listen() {
  stream ||= follow(runPath(run, "events"), {
    line,
    connection,
    poll: refresh,
    restarted: () => {
      states = NONE;
    },
  });
}

// A browser holds few connections to one server; tabs that nobody looks at leave theirs to others.
document.addEventListener("visibilitychange", () => {
  if (document.hidden && !live && !expected.size) {
    stream?.close();
    stream = null;
  } else if (!document.hidden && !stream) {
    states = NONE;
    listen();
    refresh();
  }
});

// --- what is shown --------------------------------------------------------------------------------

/** @type {import("./sections.js").Desk} */
const desk = {
  run,
  by,
  live: () => live,
  expected: (each) => expected.has(each),
  source: sourcePanel(run),
  changed: refresh,
  regenerate: (section) => regenerate(section, siblingsOf(section)),
  history: historyOf({ run, by, changed: refresh }),
  compare: proposalOf({ by, changed: refresh, edit: editTheirs }),
  async decide(section, failed) {
    failed("");
    const what = section.row.locked ? "release" : "approve";
    try {
      await post(rowPath(section.row.id, what), { by: by() });
      announce(`${section.label} ${what}d`);
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      failed(fault.told);
    }
    await refresh();
  },
};

const regenerate = regenerator({
  run,
  by,
  asked(section) {
    expected.add(section.name);
    states = without(states, section.name);
    listen();
    show();
  },
});

const siblingsOf = (section) =>
  told.sections.filter((each) => each.format === section.format && each.name !== section.name)
    .length;

/** @param {Section} section */
function editTheirs(section) {
  const { proposal, editing } = section;
  views.get(section.name).edit(editing === "text" ? proposal.text : proposal.content);
}

/** Every name there is, in the order in which they are shown. */
function names() {
  const stored = (told?.sections || []).map((each) => each.name);
  const streamed = inOrder(states).map((each) => each.sectionName);
  return [...new Set([...stored, ...streamed])];
}

let parts = 0;

function show() {
  const place = byId("sections");
  const byName = new Map((told?.sections || []).map((each) => [each.name, each]));
  const shown = names();
  let before = null;
  for (const [each, view] of views) {
    // A run that another process finished, or never did, may have other sections than were planned.
    if (told && !shown.includes(each) && !view.editing) {
      view.root.remove();
      views.delete(each);
    }
  }
  for (const each of shown) {
    if (!views.has(each)) {
      const made = sectionView(each, desk);
      made.root.id = `part-${++parts}`;
      views.set(each, made);
    }
    const view = views.get(each);
    const next = before ? before.nextElementSibling : place.firstElementChild;
    // Moving an element takes the focus out of it.
    if (next !== view.root) place.insertBefore(view.root, next);
    before = view.root;
    view.update(byName.get(each) || null, states.get(each) || null);
    tell(view);
  }
  byId("no-sections").hidden = views.size > 0;
  byId("no-sections").textContent = live ? "Waiting for the first section…" : "This run made nothing.";
  showContents([...new Set([...shown, ...views.keys()])].map((each) => views.get(each)));
  if (told) showHead(run, told, live);
}

/** Screen readers hear when a section begins, ends or fails, and not each word of it. */
function tell(view) {
  const before = phases.get(view.name);
  phases.set(view.name, view.phase);
  if (!before || before === view.phase) return;
  const said = { writing: "is being written", done: "is done", failed: "failed" }[view.phase];
  if (said) announce(`${view.label} ${said}`);
}

byId("stop").addEventListener("click", async () => {
  byId("stop").disabled = true;
  await post(runPath(run, "stop")).catch((fault) => say(byId("connection"), fault.told));
});

listen();
refresh();
