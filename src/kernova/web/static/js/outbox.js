/**
 * Whatever is said goes out one after the other, each with a key of its own. Where no answer comes, the same request
 * goes out again with the same key, so that it counts once; it is kept in the browser until the server has it.
 */

import { Refusal, Unreachable, send } from "./api.js";
import { keep, kept, keptNames } from "./kept.js";

const PAUSES_MS = [400, 800, 1600, 3200, 5000];
const PENDING = "pending.";

/** @typedef {{method: string, path: string, body: any, words: string, project: string, order: number}} Letter */

const queue = [];
const listeners = new Set();
let isRunning = false;
let project = "";
let wake = () => {};

/** What is under way: shown to the expert, and to whoever wants to close the page. */
export const outbox = { waiting: 0, attempt: 0, words: "", isSignedOut: false };

/** Be told whenever something is sent, stuck or through. */
export function onOutbox(listener) {
  listeners.add(listener);
}

/** Try again at once, as the expert asks for it or the line is back. */
export function tryAgain() {
  wake();
}

/**
 * Send what the expert said.
 * @param {string} method
 * @param {string} path
 * @param {object} body without the key, which is added here
 * @param {string} words what is being said, for the time that it is not saved
 * @returns {Promise<any>} the server's reply; rejected with its Refusal
 */
export function say(method, path, body, words) {
  const key = crypto.randomUUID();
  const letter = { method, path, body: { ...body, key }, words, project, order: Date.now() };
  keep(PENDING + key, JSON.stringify(letter));
  return enqueue(letter);
}

/** Send what an earlier page of the same project could not: it closed, or the server was gone. */
export function sendLeftovers(ofProject) {
  project = ofProject;
  const letters = keptNames(PENDING).map((name) => JSON.parse(kept(name)));
  const own = letters.filter((letter) => letter.project === project);
  return own.sort((a, b) => a.order - b.order).map(enqueue);
}

function enqueue(letter) {
  return new Promise((resolve, reject) => {
    queue.push({ letter, resolve, reject });
    tell({ waiting: queue.length });
    if (!isRunning) void run();
  });
}

async function run() {
  isRunning = true;
  while (queue.length > 0) {
    const { letter, resolve, reject } = queue[0];
    try {
      const answer = await delivered(letter);
      settle(letter);
      resolve(answer);
    } catch (refusal) {
      settle(letter);
      reject(refusal);
    }
  }
  isRunning = false;
}

function settle(letter) {
  keep(PENDING + letter.body.key, null);
  queue.shift();
  tell({ waiting: queue.length, attempt: 0, words: "", isSignedOut: false });
}

async function delivered(letter) {
  for (let attempt = 0; ; attempt += 1) {
    tell({ attempt, words: letter.words });
    try {
      return await send(letter.method, letter.path, letter.body);
    } catch (error) {
      if (!mayPass(error)) throw error;
      tell({ attempt: attempt + 1, isSignedOut: error instanceof Refusal && error.status === 401 });
      await pause(PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]);
    }
  }
}

/** Whether the same request may go through later. A fault of the server may: the answer must not be lost by it. */
function mayPass(error) {
  if (error instanceof Unreachable) return true;
  return error instanceof Refusal && (error.status === 401 || error.status === 429 || error.status >= 500);
}

function pause(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => (clearTimeout(timer), resolve());
  });
}

function tell(changes) {
  Object.assign(outbox, changes);
  for (const listener of listeners) listener(outbox);
}

addEventListener("online", () => wake());
addEventListener("beforeunload", (event) => {
  if (outbox.attempt > 0) event.preventDefault();
});
