/** Everything an expert can say. Each goes out once, and what comes of it is shown. */

import { Refusal, send } from "./api.js";
import { announce, saySaved, sayRefused } from "./notices.js";
import { say } from "./outbox.js";
import { refresh, store, update } from "./store.js";
import { counted, quoted } from "./words.js";

/** Send something; give the reply, or null where it was refused, which has then been said. */
async function done(method, path, body, words, { takesQuestion = false } = {}) {
  try {
    const reply = await say(method, path, { expert: store.expert, ...body }, words);
    saySaved(reply.saved?.words ?? "Saved.");
    if (reply.question !== undefined && takesQuestion) takeQuestion(reply);
    else if (store.question) await stillOpen();
    await refresh();
    return reply;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    sayRefused(error);
    if (takesQuestion) await askNext();
    await refresh();
    return null;
  }
}

/** What was said elsewhere may have answered the question in hand: ask for the one that is open. */
async function stillOpen() {
  if (store.isAsked) await askNext();
}

/** Ask for the expert's question; the server gives the open one again, if there is one. */
export async function askNext(wish = {}) {
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
  const isSame = question && store.question && question.row === store.question.row && question.number === store.question.number;
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
  return done("POST", "/api/answers", { row: question.row, label, members }, words, { takesQuestion: true });
}

export function skip(question) {
  return done("POST", "/api/skips", { row: question.row }, `${question.id} is skipped.`, { takesQuestion: true });
}

export function undo() {
  return done("POST", "/api/undo", {}, "The last step is taken back.", { takesQuestion: true });
}

export function changeAnswer(number, label) {
  const words = label === null ? `Answer ${number} counts as skipped.` : `Answer ${number} is ${quoted(label)}.`;
  return done("PATCH", `/api/answers/${number}`, { label }, words);
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
