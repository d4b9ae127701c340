// What is known of each section, from the lines of one stream in whatever order they come.
// Pure: no document, no clock, so that it runs wherever JavaScript does.

/**
 * @typedef {object} SectionState
 * @property {string} sectionName
 * @property {string} [displayLabel]
 * @property {number} [sectionIndex]
 * @property {number} [totalSections]
 * @property {"idle" | "streaming" | "completed"} status
 * @property {string} accumulatedText
 * @property {unknown} [structuredData]
 * @property {object[]} [citations]
 */
/** @typedef {ReadonlyMap<string, SectionState>} SectionStates */
/** @typedef {{type: string, stream: string, payload: any}} Line */

/** @type {SectionStates} */
export const NONE = new Map();

/**
 * The states after one more line. A line of another stream, of an unknown type, or without a
 * section's name changes nothing, and a field of the wrong type counts as missing.
 * @param {SectionStates} states @param {Line} line @param {string} stream
 * @returns {SectionStates}
 */
export function reduced(states, line, stream) {
  const payload = line?.payload;
  const name = payload?.sectionName;
  if (line?.stream !== stream || typeof name !== "string" || !name.trim()) return states;
  const after = STEPS.get(line.type)?.(states.get(name), payload, name);
  return after ? new Map(states).set(name, after) : states;
}

/**
 * The states in the order in which they are shown: by index, then those without one as they came.
 * @param {SectionStates} states @returns {SectionState[]}
 */
export function inOrder(states) {
  const place = (/** @type {SectionState} */ state) => state.sectionIndex ?? Infinity;
  return [...states.values()].sort((one, other) => {
    const [a, b] = [place(one), place(other)];
    return a === b ? 0 : a - b;
  });
}

/**
 * The states without one section, for a section that is about to be written again.
 * @param {SectionStates} states @param {string} name @returns {SectionStates}
 */
export function without(states, name) {
  if (!states.has(name)) return states;
  const rest = new Map(states);
  rest.delete(name);
  return rest;
}

/** @param {SectionState | undefined} old @param {any} payload @param {string} name */
function started(old, payload, name) {
  return {
    ...(old || fresh(name)),
    ...given({
      displayLabel: text(payload.displayLabel),
      sectionIndex: count(payload.sectionIndex),
      totalSections: count(payload.totalSections),
    }),
    // A late start adds what it knows and takes nothing back.
    status: old?.status === "completed" ? "completed" : "streaming",
  };
}

/** @param {SectionState | undefined} old @param {any} payload @param {string} name */
function withMore(old, payload, name) {
  const more = text(payload.textDelta) || "";
  const fields = payload.structuredData ?? undefined;
  // What comes after the end is late; the end told everything.
  if ((!more && fields === undefined) || old?.status === "completed") return null;
  const before = old || fresh(name);
  return {
    ...before,
    status: "streaming",
    accumulatedText: before.accumulatedText + more,
    ...given({ structuredData: merged(before.structuredData, fields) }),
  };
}

/** @param {SectionState | undefined} old @param {any} payload @param {string} name */
function completed(old, payload, name) {
  const { citations: cited, ...before } = old || fresh(name);
  const told = Array.isArray(payload.citations) ? payload.citations.filter(isRecord) : cited;
  return {
    ...before,
    status: "completed",
    accumulatedText: text(payload.finalText) ?? before.accumulatedText,
    ...given({ structuredData: payload.finalStructuredData }),
    ...(told?.length ? { citations: told } : {}),
  };
}

// A map and no object: a type may be called like something that every object has.
const STEPS = new Map(
  Object.entries({
    section_started: started,
    section_data: withMore,
    section_completed: completed,
  }),
);

/** @param {string} name @returns {SectionState} */
const fresh = (name) => ({ sectionName: name, status: "idle", accumulatedText: "" });

/** Only what is there. @param {Record<string, unknown>} fields */
const given = (fields) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );

const text = (value) => (typeof value === "string" ? value : undefined);
const count = (value) => (Number.isInteger(value) && value >= 0 ? value : undefined);
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields are added to fields; anything else takes the place of what was there. */
const merged = (before, more) =>
  more === undefined ? before : isRecord(before) && isRecord(more) ? { ...before, ...more } : more;
