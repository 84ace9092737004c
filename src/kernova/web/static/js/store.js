/** What the page knows: the session, its state by version, the expert, the question. Views listen to changes. */

import { Refusal, Unreachable, get } from "./api.js";

const BEAT_MS = { preparing: 350, here: 2000, away: 15_000, lost: 1500 };

export const store = {
  /** @type {any} */ session: null,
  /** @type {any} */ state: null,
  /** @type {string} */ expert: "",
  /** @type {any} */ question: null,
  /** Words of the server where there is no question. */ message: "",
  isAsked: false,
  /** Whether rows are asked that what was learnt does not know. */ isAmongUnknown: false,
  /** Why the server cannot be read: "", "unreachable" or "signed-out". */ lost: "",
};

const listeners = new Map();

/** Call the listener whenever one of the topics changes: session, state, expert, question, lost. */
export function listen(topics, listener) {
  for (const topic of topics.split(" ")) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
  }
}

/** Put in what is new, and tell whoever listens. */
export function update(changes) {
  Object.assign(store, changes);
  const told = new Set();
  for (const topic of Object.keys(changes)) for (const listener of listeners.get(topic) ?? []) told.add(listener);
  for (const listener of told) listener();
}

/** How far preparation is. */
export function preparation() {
  return store.state?.preparation ?? store.session?.preparation ?? { state: "preparing" };
}

/** "starting", "preparing", "asking" or "done". */
export function phase() {
  if (!store.expert) return "starting";
  if (preparation().state !== "ready") return "preparing";
  return store.isAsked && !store.question ? "done" : "asking";
}

/** The category of this name, as the state has it. */
export function categoryNamed(name) {
  return categories().find((category) => category.name === name);
}

/** The categories, in the order in which they were met. */
export function categories() {
  return store.state?.categories ?? [];
}

let timer = 0;
let reading = null;

/** Read the state now, if it has changed; also the expert's sign of life. What is being read may be from before. */
export function refresh() {
  return reading ? reading.then(readOnce) : readOnce();
}

function readOnce() {
  reading ??= read().finally(() => {
    reading = null;
    clearTimeout(timer);
    timer = setTimeout(refresh, beat());
  });
  return reading;
}

async function read() {
  const parameters = new URLSearchParams();
  if (store.state) parameters.set("since", store.state.version);
  if (store.expert) parameters.set("expert", store.expert);
  try {
    if (!store.session) update({ session: await get("/api/session") });
    const state = await get(`/api/state?${parameters}`);
    if (store.lost) update({ lost: "" });
    if (!state.unchanged) update({ state });
    // How far preparation is changes without a new version.
    else if (JSON.stringify(state.preparation) !== JSON.stringify(preparation())) update({ state: { ...store.state, preparation: state.preparation } });
  } catch (error) {
    const isSignedOut = error instanceof Refusal && (error.status === 401 || error.status === 403);
    if (!isSignedOut && !(error instanceof Unreachable) && !(error instanceof Refusal)) throw error;
    update({ lost: isSignedOut ? "signed-out" : "unreachable" });
  }
}

function beat() {
  if (store.lost) return BEAT_MS.lost;
  if (document.hidden) return BEAT_MS.away;
  const isBusy = preparation().state === "preparing" || store.state?.learn?.state === "running";
  return isBusy ? BEAT_MS.preparing : BEAT_MS.here;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && store.session) void refresh();
});
