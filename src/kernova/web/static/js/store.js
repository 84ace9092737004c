/** What the page knows: the session, its state by version, the expert, the question. Views listen to changes. */

import { RequestError, Unreachable, get } from "./api.js";

const INTERVAL_MS = { busy: 350, behind: 1000, visible: 2000, hidden: 15_000, lost: 1500 };

/**
 * @typedef {object} Store
 * @property {import("./types.js").SessionReply|null} session
 * @property {import("./types.js").StateReply|null} state
 * @property {string} expert empty before a name is given
 * @property {import("./types.js").QuestionShown|null} question
 * @property {string} message the server's sentence where there is no question
 * @property {boolean} isAsked whether a question was requested
 * @property {boolean} isAmongUnknown whether the questions are about rows that the learnt model does not know
 * @property {""|"unreachable"|"signed-out"} lost why the server cannot be read
 */

/** @type {Store} */
export const store = {
  session: null,
  state: null,
  expert: "",
  question: null,
  message: "",
  isAsked: false,
  isAmongUnknown: false,
  lost: "",
};

/** @type {Map<string, Set<() => void>>} */
const listeners = new Map();

/**
 * Call the listener whenever one of the topics changes.
 * @param {(keyof Store)[]} topics
 * @param {() => void} listener
 */
export function listen(topics, listener) {
  for (const topic of topics) {
    const those = listeners.get(topic) ?? new Set();
    listeners.set(topic, those.add(listener));
  }
}

/**
 * Store what is new, and call those who listen.
 * @param {Partial<Store>} changes
 */
export function update(changes) {
  Object.assign(store, changes);
  const called = new Set();
  for (const topic of Object.keys(changes)) for (const listener of listeners.get(topic) ?? []) called.add(listener);
  for (const listener of called) listener();
}

/**
 * How far preparation is.
 * @returns {import("./types.js").Preparation}
 */
export function preparation() {
  return store.state?.preparation ?? store.session?.preparation ?? { state: "preparing", task: "", done: 0, total: 0, left: "", message: "", is_complete: false };
}

/** "starting", "preparing", "asking" or "done". */
export function phase() {
  if (!store.expert) return "starting";
  if (preparation().state !== "ready") return "preparing";
  return store.isAsked && !store.question ? "done" : "asking";
}

/**
 * The category with this name, as the state has it.
 * @param {string} name
 */
export function categoryNamed(name) {
  return categories().find((category) => category.name === name);
}

/** The categories, in order of discovery. */
export function categories() {
  return store.state?.categories ?? [];
}

let timer = 0;
/** @type {Promise<void>|null} */
let reading = null;

/**
 * Read the state now, if it has changed; this also tells the server that the expert is there. A read that is under way
 * may have begun before the change.
 * @returns {Promise<void>}
 */
export function refresh() {
  return reading ? reading.then(readOnce) : readOnce();
}

function readOnce() {
  reading ??= read().finally(() => {
    reading = null;
    clearTimeout(timer);
    timer = setTimeout(refresh, interval());
  });
  return reading;
}

async function read() {
  try {
    if (!store.session) update({ session: await get("/api/session") });
    const state = await get("/api/state", { since: store.state?.version, expert: store.expert || undefined });
    if (store.lost) update({ lost: "" });
    if (!state.unchanged) update({ state });
    // How far preparation is changes without a new version.
    else if (store.state && JSON.stringify(state.preparation) !== JSON.stringify(preparation())) update({ state: { ...store.state, preparation: state.preparation } });
  } catch (error) {
    const isSignedOut = error instanceof RequestError && (error.status === 401 || error.status === 403);
    if (!isSignedOut && !(error instanceof Unreachable) && !(error instanceof RequestError)) throw error;
    update({ lost: isSignedOut ? "signed-out" : "unreachable" });
  }
}

function interval() {
  if (store.lost) return INTERVAL_MS.lost;
  if (document.hidden) return INTERVAL_MS.hidden;
  const isBusy = preparation().state === "preparing" || store.state?.learn?.state === "running";
  if (isBusy) return INTERVAL_MS.busy;
  const isBehind = preparation().state === "ready" && !preparation().is_complete;
  return isBehind ? INTERVAL_MS.behind : INTERVAL_MS.visible;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && store.session) void refresh();
});
