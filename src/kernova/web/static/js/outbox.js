/**
 * Everything that changes the project is sent one after the other, each request with a key of its own. Where no answer
 * comes, the same request is sent again with the same key, so that it counts once; the browser keeps it until the
 * server has it.
 */

import { RequestError, Unreachable, send } from "./api.js";
import { keep, kept, keptNames } from "./kept.js";

const PAUSES_MS = [400, 800, 1600, 3200, 5000];
const PENDING = "pending.";

/** @typedef {import("./types.js").SavedReply} SavedReply */
/** @typedef {{method: string, path: string, body: {key: string}, words: string, project: string, order: number}} Message */
/** @typedef {{message: Message, resolve: (reply: SavedReply) => void, reject: (error: unknown) => void}} Queued */
/** @typedef {{waiting: number, attempt: number, words: string, isSignedOut: boolean}} Outbox */

/** @type {Queued[]} */
const queue = [];
/** @type {Set<(outbox: Outbox) => void>} */
const listeners = new Set();
let isRunning = false;
let project = "";
let wake = () => {};

/**
 * What is under way: shown to the expert, and checked before the page is closed.
 * @type {Outbox}
 */
export const outbox = { waiting: 0, attempt: 0, words: "", isSignedOut: false };

/**
 * Call the listener whenever something is sent, stuck or saved.
 * @param {(outbox: Outbox) => void} listener
 */
export function onOutbox(listener) {
  listeners.add(listener);
}

/** Try again at once: the expert asked for it, or the network is back. */
export function tryAgain() {
  wake();
}

/**
 * Send a change.
 * @param {string} method
 * @param {string} path
 * @param {object} body without the key, which is added here
 * @param {string} words what the change is, shown while it is not saved
 * @returns {Promise<SavedReply>} the server's reply; rejected with its RequestError
 */
export function submit(method, path, body, words) {
  const key = newKey();
  const message = { method, path, body: { ...body, key }, words, project, order: Date.now() };
  keep(PENDING + key, JSON.stringify(message));
  return enqueue(message);
}

/**
 * Send what an earlier page of the same project could not: it was closed, or the server was gone.
 * @param {string} ofProject
 */
export function sendLeftovers(ofProject) {
  project = ofProject;
  const messages = keptNames(PENDING).map((name) => /** @type {Message} */ (JSON.parse(kept(name) ?? "{}")));
  const own = messages.filter((message) => message.project === project);
  return own.sort((a, b) => a.order - b.order).map(enqueue);
}

/**
 * @param {Message} message
 * @returns {Promise<SavedReply>}
 */
function enqueue(message) {
  return new Promise((resolve, reject) => {
    queue.push({ message, resolve, reject });
    tell({ waiting: queue.length });
    if (!isRunning) void run();
  });
}

async function run() {
  isRunning = true;
  while (queue.length > 0) {
    const { message, resolve, reject } = queue[0];
    try {
      const answer = await delivered(message);
      settle(message);
      resolve(answer);
    } catch (error) {
      settle(message);
      reject(error);
    }
  }
  isRunning = false;
}

/** Give a random key; crypto.randomUUID does not exist on pages of other machines without HTTPS. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {Message} message */
function settle(message) {
  keep(PENDING + message.body.key, null);
  queue.shift();
  tell({ waiting: queue.length, attempt: 0, words: "", isSignedOut: false });
}

/** @param {Message} message */
async function delivered(message) {
  for (let attempt = 0; ; attempt += 1) {
    tell({ attempt, words: message.words });
    try {
      return await send(message.method, message.path, message.body);
    } catch (error) {
      if (!mayPass(error)) throw error;
      tell({ attempt: attempt + 1, isSignedOut: error instanceof RequestError && error.status === 401 });
      await pause(PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]);
    }
  }
}

/**
 * Whether the same request may succeed later. After an internal error of the server it may: the answer must not be lost.
 * @param {unknown} error
 */
function mayPass(error) {
  if (error instanceof Unreachable) return true;
  return error instanceof RequestError && (error.status === 401 || error.status === 429 || error.status >= 500);
}

/**
 * @param {number} milliseconds
 * @returns {Promise<void>}
 */
function pause(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => (clearTimeout(timer), resolve());
  });
}

/** @param {Partial<Outbox>} changes */
function tell(changes) {
  Object.assign(outbox, changes);
  for (const listener of listeners) listener(outbox);
}

addEventListener("online", () => wake());
addEventListener("beforeunload", (event) => {
  if (outbox.attempt > 0) event.preventDefault();
});
