// The plan: what the source is, how many calls it takes, and what they cost.
import { announce, byId, counted, el } from "./dom.js";

/** @param {(id: string) => void} start */
export function planView(start) {
  const root = byId("plan-view");
  let id = "";

  byId("start-plan").addEventListener("click", () => start(id));

  return {
    /** @param {any} plan as the server tells it */
    show(plan) {
      id = plan.plan;
      byId("plan-facts").replaceChildren(
        ...factsOf(plan).flatMap(([name, value]) => [
          el("dt", {}, name),
          el("dd", { dir: "auto" }, value),
        ]),
      );
      const said = [...(plan.source.warnings || []), ...(plan.source.suspicions || [])];
      byId("plan-warnings").replaceChildren(...said.map((each) => el("li", { dir: "auto" }, told(each))));
      byId("plan-warnings").hidden = !said.length;
      const names = (plan.sections || []).map((each) => each.label || each.name);
      byId("plan-sections").textContent = names.length ? `Makes: ${names.join(", ")}.` : "";
      byId("start-plan").disabled = false;
      byId("start-plan").textContent = plan.cost?.worst
        ? `Start for up to ${dollars(plan.cost.worst)}`
        : "Start this run";
      byId("plan-stale").hidden = true;
      root.classList.remove("stale");
      root.hidden = false;
      root.scrollIntoView({ block: "nearest" });
      root.focus();
      announce("The plan is ready");
    },
    /** The form is not any more what was planned. */
    stale() {
      if (root.hidden) return;
      byId("plan-stale").hidden = false;
      byId("start-plan").disabled = true;
      root.classList.add("stale");
    },
  };
}

/** @returns {[string, string][]} */
function factsOf(plan) {
  const { source, tokens, cost } = plan;
  return [
    ["Source", source.title || "Without a title"],
    ["Language", source.language || "not sure"],
    ["Length", counted(source.characters, "character")],
    ["Model", plan.model || "none, sentences of the source are chosen"],
    ["Calls", plan.calls.toLocaleString("en")],
    ["Tokens", tokensTold(plan.calls, tokens)],
    ["Cost", costTold(plan.calls, cost)],
  ];
}

const told = (each) => (typeof each === "string" ? each : each.message || JSON.stringify(each));

function tokensTold(calls, tokens) {
  if (!calls) return "none";
  if (!tokens) return "not known";
  const [low, likely, high] = [tokens.low, tokens.expected, tokens.high].map((count) =>
    count.toLocaleString("en"),
  );
  return `about ${likely} (${low} to ${high})`;
}

function costTold(calls, cost) {
  if (!calls || cost?.worst === 0) return "nothing";
  if (cost?.expected === null || cost?.expected === undefined) return "not known: the model has no price";
  return `about ${dollars(cost.expected)}, at worst ${dollars(cost.worst)}`;
}

/** To the cent, or to three digits where it is less than a dollar. */
function dollars(amount) {
  if (amount === null || amount === undefined) return "not known";
  if (amount === 0) return "US$ 0";
  const digits = amount < 1 ? { maximumSignificantDigits: 3 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `US$ ${amount.toLocaleString("en", digits)}`;
}
