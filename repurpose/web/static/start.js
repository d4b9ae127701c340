// The start page: one source in one of three ways, what to make of it, and what it will cost.
import { ApiError, post } from "./api.js";
import { announce, byId } from "./dom.js";
import { Fault, clearFaults, showFault } from "./faults.js";
import { intake } from "./intake.js";
import { planView } from "./plan.js";

const form = byId("start");
const source = intake(form);
const plan = planView(start);

// --- what to make ---------------------------------------------------------------------------------

const composite = byId("composite");

const checked = (name) =>
  [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((each) => each.value);

/** A composite says itself which formats it needs; platforms matter for posts only. */
function showParts() {
  const chosen = composite?.selectedOptions[0];
  const named = Boolean(composite?.value);
  byId("format-picks").hidden = named;
  byId("platform-part").hidden = named || !checked("formats").includes("social");
  const told = byId("composite-sections");
  if (told) told.textContent = named ? `Sections: ${chosen.dataset.sections}.` : "";
}

/** @returns {Promise<Record<string, any>>} the body that plans and starts */
async function wish() {
  const body = { ...(await source.given()) };
  if (composite?.value) {
    body.composite = composite.value;
  } else {
    body.formats = checked("formats");
    if (!body.formats.length) throw new Fault("formats", "Choose at least one format.");
    if (body.formats.includes("social")) {
      body.platforms = checked("platforms");
      if (!body.platforms.length) throw new Fault("platforms", "Choose at least one platform.");
    }
  }
  for (const name of ["voice", "language", "audience", "tone", "model"]) {
    const value = byId(name)?.value.trim();
    if (value) body[name] = value;
  }
  return body;
}

// --- planning and starting ------------------------------------------------------------------------

/** @param {() => Promise<void>} act */
async function busy(act) {
  clearFaults(form);
  const buttons = document.querySelectorAll("#go, #plan, #start-plan");
  for (const each of buttons) each.disabled = true;
  form.setAttribute("aria-busy", "true");
  try {
    await act();
  } catch (fault) {
    if (!(fault instanceof Fault || fault instanceof ApiError)) throw fault;
    showFault(fault, source.way());
  } finally {
    for (const each of buttons) each.disabled = false;
    form.removeAttribute("aria-busy");
  }
}

/** Ask for a plan; an upload that the server let go of in the meantime is sent again. */
async function planned() {
  announce("Planning…");
  try {
    return await post("/api/plan", await wish());
  } catch (fault) {
    if (!(fault instanceof ApiError) || source.way() !== "file" || !source.forget()) throw fault;
    return post("/api/plan", await wish());
  }
}

/** @param {string} id of a plan */
async function started(id) {
  const { url } = await post("/api/runs", { plan: id });
  // Our own pages only, whatever an answer says.
  location.assign(new URL(url, location.origin).pathname);
}

/** @param {string} id */
function start(id) {
  busy(() => started(id));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  busy(async () => {
    const found = await planned();
    if (found.calls === 0 || found.cost?.worst === 0) await started(found.plan);
    else plan.show(found);
  });
});
byId("plan").addEventListener("click", () => busy(async () => plan.show(await planned())));

form.addEventListener("input", () => {
  showParts();
  plan.stale();
});
showParts();
