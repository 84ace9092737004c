/** Everything an expert can say. Each goes out once, and what comes of it is shown. */

import { Refusal, get, send } from "./api.js";
import { announce, saySaved, sayRefused } from "./notices.js";
import { say } from "./outbox.js";
import { refresh, store, update } from "./store.js";
import { counted, quoted } from "./words.js";

let asking = null;

/** Send something; give the reply, or null where it was refused, which has then been said. */
async function done(method, path, body, words, tell = savedWords, failed = "Not saved") {
  try {
    const reply = await say(method, path, { expert: store.expert, ...body }, words);
    saySaved(tell(reply.saved));
    // Before preparation is through, there is no question to go on with.
    if ((reply.question || reply.message) && !(store.isAmongUnknown && (await askUnknown()))) takeQuestion(reply);
    await refresh();
    return reply;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    sayRefused(error, failed);
    if (store.isAsked) await askNext();
    await refresh();
    return null;
  }
}

/** What is on the disk now, in the server's words. */
export function savedWords({ words }) {
  return `Saved. ${words}`;
}

/** Ask for the expert's question; the server gives the open one again, if there is one. */
export function askNext(wish = {}) {
  if (wish.row !== undefined || wish.source) return ask(wish);
  asking ??= ask(wish).finally(() => (asking = null));
  return asking;
}

/** Ask about the rows that what was learnt does not know, one after the other; tell whether one was left. */
export async function askUnknown() {
  const { total } = await get("/api/learn/rows?verdict=unknown&limit=1").catch(() => ({ total: 0 }));
  update({ isAmongUnknown: total > 0 });
  if (total > 0) await ask({ source: "unknown" });
  return total > 0;
}

/** Go on with the questions that the strategy chooses; the one in hand stays. */
export function leaveUnknown() {
  update({ isAmongUnknown: false });
}

async function ask(wish) {
  try {
    takeQuestion(await send("POST", "/api/question", { expert: store.expert, ...wish }));
  } catch (error) {
    if (error.code === "preparing") return void (await refresh());
    if (!(error instanceof Refusal)) return void setTimeout(askNext, 1500, wish);
    if (wish.row !== undefined) return void sayRefused(error);
    update({ question: null, message: error.message, isAsked: true });
  }
}

function takeQuestion({ question, message = "" }) {
  const isSame = question && question.row === store.question?.row && question.n_members === store.question.n_members;
  // The same question again leaves the picture, ticks and focus alone.
  if (isSame) return;
  update({ question, message: message ?? "", isAsked: true });
  if (question) announce(`Question ${question.number}: ${question.id}. ${question.reason}`);
  else announce(message || "No question is left.");
}

/**
 * Answer the question in hand.
 * @param {any} question
 * @param {string} label
 * @param {null|"all"|number[]} members which rows of its cluster are named with it
 */
export function answer(question, label, members = null) {
  const words = `${question.id} is ${quoted(label)}.`;
  return done("POST", "/api/answers", { row: question.row, label, members }, words, ({ n_rows: rows, is_new: isNew }) => {
    const what = rows > 1 ? `${question.id} and ${counted(rows - 1, "row")} like it are` : `${question.id} is`;
    return `Saved: ${what} ${quoted(label)}${isNew ? ", a new category" : ""}.`;
  });
}

export function skip(question) {
  return done("POST", "/api/skips", { row: question.row }, `${question.id} is skipped.`, () => `Saved: ${question.id} is skipped.`);
}

export function undo() {
  return done("POST", "/api/undo", {}, "The last step is taken back.", savedWords, "Not undone");
}

/** Change an answer; its row goes along, since the number may have become another question's. */
export function changeAnswer(number, row, label) {
  const words = label === null ? `Answer ${number} counts as skipped.` : `Answer ${number} is ${quoted(label)}.`;
  return done("PATCH", `/api/answers/${number}`, { row, label }, words);
}

export function labelRows(rows, label) {
  return done("POST", "/api/labels", { rows, label }, `${counted(rows.length, "row")}: ${quoted(label)}.`);
}

export function rename(old, name) {
  return done("POST", "/api/categories/rename", { old, new: name }, `${quoted(old)} becomes ${quoted(name)}.`);
}

export function merge(into, others) {
  return done("POST", "/api/categories/merge", { into, others }, `${others.map(quoted).join(", ")} become ${quoted(into)}.`);
}

export function deleteCategory(name) {
  return done("POST", "/api/categories/delete", { name }, `${quoted(name)} is deleted.`);
}

export function settle(row, id, label) {
  return done("POST", `/api/disagreements/${row}`, { label }, `${id} is ${quoted(label)}, settled.`);
}
