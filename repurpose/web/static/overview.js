// The head of a run's page and the list of its sections.
import { byId, counted, el, when, webAddress } from "./dom.js";

const STATUS = {
  queued: "Waiting in line",
  running: "Running",
  left: "Not finished",
  done: "Done",
  partial: "Partly done",
  failed: "Failed",
  interrupted: "Interrupted",
};

/**
 * @param {string} id @param {{run: any, source: any}} told @param {boolean} live
 */
export function showHead(id, { run, source }, live) {
  const title = source?.title || run.title || run.origin;
  if (title) byId("run-title").textContent = title;
  const status = statusOf(run, live);
  const badge = byId("run-status");
  badge.textContent = STATUS[status] || status || "";
  badge.className = `badge ${status}`;
  badge.hidden = !status;
  byId("stop").hidden = !live;
  byId("progress").hidden = !live && !byId("progress").textContent;
  byId("stop").disabled = Boolean(run.stopping);
  const href = webAddress(source?.url || "");
  const facts = [
    when(run.startedAt || run.started_at),
    run.model || "no model",
    source?.language && `language ${source.language}`,
    source?.characters && counted(source.characters, "character"),
    href && el("a", { href, rel: "noopener noreferrer", target: "_blank" }, "Source on the web"),
  ];
  byId("run-facts").replaceChildren(
    ...facts.filter(Boolean).map((fact) => el("span", {}, fact)),
  );
  if (!live) showComposites(id, run.composites || []);
}

/** A run that is stored as running and that nobody here works on was left so by its process. */
function statusOf(run, live) {
  if (run.queued) return "queued";
  if (live) return "running";
  return run.status === "running" ? "left" : run.status;
}

/** @param {{root: HTMLElement, label: string, phase: string, name: string}[]} views */
export function showContents(views) {
  const list = byId("contents");
  const items = new Map([...list.children].map((each) => [each.dataset.name, each]));
  const names = new Set(views.map((view) => view.name));
  for (const [name, item] of items) if (!names.has(name)) item.remove();
  views.forEach((view, place) => {
    const item = items.get(view.name) || el("li", {}, el("a", { href: `#${view.root.id}` }));
    item.dataset.name = view.name;
    item.dataset.phase = view.phase;
    const told = { done: "", waiting: " (waiting)", writing: " (writing)", failed: " (failed)", stopped: " (not made)" };
    const text = `${view.label}${told[view.phase] ?? ""}`;
    if (item.firstElementChild.textContent !== text) item.firstElementChild.textContent = text;
    const there = list.children[place];
    if (there !== item) list.insertBefore(item, there || null);
  });
}

/** Links to the composites that can be put together from the run's rows. */
function showComposites(id, names) {
  byId("composites").replaceChildren(
    ...names.map((name) =>
      el(
        "a",
        {
          class: "button",
          href: `/runs/${encodeURIComponent(id)}/composites/${encodeURIComponent(name)}`,
        },
        `Composite: ${name}`,
      ),
    ),
  );
}
