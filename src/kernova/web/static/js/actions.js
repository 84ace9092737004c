/** Everything an expert can do. Each request is sent once, and the result is shown. */

import { RequestError, address, get, messageOf, post } from "./api.js";
import { offerWaysOn } from "./colleagues/undoing.js";
import { announce, showFailed, showSaved } from "./notices.js";
import { submit } from "./outbox.js";
import { categories, refresh, store, update } from "./store.js";
import { counted, keyShown, listed, quoted } from "./words.js";

/** @typedef {import("./types.js").QuestionShown} Question */
/** @typedef {import("./types.js").Card} Card */
/** @typedef {Card["confidence"]} Confidence */
/** @typedef {import("./types.js").SavedReply} SavedReply */
/** @typedef {{row?: number, source?: "strategy"|"unknown"|"overlap"}} Wish */
/** @typedef {import("./types.js").PostCalls & import("./types.js").PatchCalls} Calls */

/** @type {Promise<void>|null} */
let asking = null;

/**
 * Send a change.
 * @template {keyof Calls} P
 * @param {P} path
 * @param {Calls[P]["parameters"]} parameters
 * @param {Omit<Calls[P]["body"], "expert"|"key">} body
 * @param {string} words what is shown while it is not saved
 * @param {{method?: "POST"|"PATCH", tell?: (saved: import("./types.js").Saved) => string, failed?: string}} [options]
 * @returns {Promise<SavedReply|null>} the reply; null where it was rejected, which has then been shown
 */
async function done(path, parameters, body, words, { method = "POST", tell = savedWords, failed = "Not saved" } = {}) {
  try {
    const reply = await submit(method, address(path, parameters), { expert: store.expert, ...body }, words);
    showSaved(tell(reply.saved), reply.saved.warning);
    // Before preparation is finished, there is no question to continue with.
    if ((reply.question || reply.message) && !(store.isAmongUnknown && (await askUnknown()))) takeQuestion(reply);
    await refresh();
    return reply;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    showFailed(error, failed);
    if (store.isAsked) await askNext();
    await refresh();
    return null;
  }
}

/**
 * What is on disk now, in the server's words.
 * @param {{words: string}} saved
 */
export function savedWords({ words }) {
  return `Saved. ${words}`;
}

/**
 * Request the expert's question; the server gives the open one again, if there is one.
 * @param {Wish} wish
 * @returns {Promise<void>}
 */
export function askNext(wish = {}) {
  if (wish.row !== undefined || wish.source) return ask(wish);
  asking ??= ask(wish).finally(() => (asking = null));
  return asking;
}

/** Ask about the rows that the learnt model does not know, one after the other; tell whether one was left. */
export async function askUnknown() {
  const { total } = await get("/api/learn/rows", { verdict: "unknown", limit: 1 }).catch(() => ({ total: 0 }));
  update({ isAmongUnknown: total > 0 });
  if (total > 0) await ask({ source: "unknown" });
  return total > 0;
}

/** Continue with the questions that the strategy chooses; the current one stays. */
export function leaveUnknown() {
  update({ isAmongUnknown: false });
}

/**
 * @param {Wish} wish
 * @returns {Promise<void>}
 */
async function ask(wish) {
  try {
    takeQuestion(await post("/api/question", { expert: store.expert, ...wish }));
  } catch (error) {
    if (error instanceof RequestError && error.code === "preparing") return void (await refresh());
    if (!(error instanceof RequestError)) return void setTimeout(askNext, 1500, wish);
    if (wish.row !== undefined) return void showFailed(error);
    update({ question: null, message: messageOf(error), isAsked: true });
  }
}

/** @param {{question: Question|null, message: string|null}} reply */
function takeQuestion({ question, message }) {
  const isSame = question && question.row === store.question?.row && question.n_members === store.question.n_members;
  // The same question again leaves the picture, the selection and the focus alone.
  if (isSame) return;
  update({ question, message: message ?? "", isAsked: true });
  if (question) announce(`Question ${question.number}: ${question.id}. ${question.reason}`);
  else announce(message || "No questions left.");
}

/**
 * Answer the current question.
 * @param {Question} question
 * @param {string} label
 * @param {null|"all"|number[]} members which rows of its cluster are labelled with it
 * @param {Confidence} confidence how sure the expert is, if that is stated
 */
export async function answer(question, label, members = null, confidence = null) {
  const reply = await answered(question, label, members, confidence);
  if (reply !== null && question.is_blind) await showComparison(question, label, reply.saved.warning);
  return reply;
}

/**
 * After an answer for comparison, show the answers of others.
 * @param {Question} question
 * @param {string} label
 * @param {string|null} warning
 */
async function showComparison({ row, id }, label, warning) {
  const card = await get("/api/rows/{row}", { row }).catch(() => null);
  const others = card?.opinions.filter(({ expert }) => expert !== store.expert) ?? [];
  if (others.length === 0) return;
  const isSame = others.every((one) => one.label === label);
  const said = listed(others.map((one) => `${one.expert || "an unnamed expert"} ${isSame ? "agrees" : `gave ${quoted(one.label)}`}`));
  showSaved(`Saved: ${id} is ${quoted(label)}. For comparison: ${said}.`, warning);
}

/**
 * @param {Question} question
 * @param {string} label
 * @param {null|"all"|number[]} members
 * @param {"low"|"medium"|"high"|null} confidence
 */
function answered(question, label, members, confidence) {
  const words = `${question.id} is ${quoted(label)}.`;
  return done("/api/answers", {}, { row: question.row, label, members, confidence }, words, {
    tell: ({ n_rows: rows, is_new: isNew }) => {
      const what = rows > 1 ? `${question.id} and ${counted(rows - 1, "other row")} are` : `${question.id} is`;
      return `Saved: ${what} ${quoted(label)}${isNew ? ", a new category" : ""}${confidence ? `, with ${confidence} confidence` : ""}.`;
    },
  });
}

/**
 * @param {Question} question
 * @param {boolean} unsure whether it cannot be decided, rather than not now
 */
export function skip(question, unsure = false) {
  const words = `${question.id} is ${unsure ? "left undecided" : "skipped"}.`;
  return done("/api/skips", {}, { row: question.row, unsure }, words, { tell: () => `Saved: ${words}` });
}

/**
 * @param {Card} card
 * @param {string|null} text
 */
export function noteRow({ row, id }, text) {
  return done("/api/notes", {}, { row, text }, `Note on ${id}.`);
}

/**
 * @param {Card} card
 * @param {boolean} isOn
 */
export function flagRow({ row, id }, isOn) {
  return done("/api/flags", {}, { rows: [row], is_on: isOn }, `${id} is ${isOn ? "" : "no longer "}flagged.`);
}

/**
 * @param {Card} card
 * @param {string} label
 * @param {boolean} isOn
 */
export function tagRow({ row, id }, label, isOn) {
  return done("/api/tags", {}, { rows: [row], label, is_on: isOn }, `${id} is ${isOn ? "also" : "no longer also"} ${quoted(label)}.`);
}

/** @param {boolean} isOn */
export function allowFurtherLabels(isOn) {
  return done("/api/further-labels", {}, { is_on: isOn }, `Further labels are ${isOn ? "allowed" : "no longer allowed"}.`);
}

/**
 * @param {string[]} names
 * @param {string|null} under
 */
export function group(names, under) {
  return done("/api/categories/group", {}, { names, under }, `${listed(names.map(quoted))} under ${under === null ? "no heading" : quoted(under)}.`);
}

/**
 * @param {string} name
 * @param {string|null} letter
 */
export async function chooseKey(name, letter) {
  const before = new Map(categories().map((category) => [category.name, category.key]));
  const reply = await done("/api/categories/key", {}, { name, letter }, `The key of ${quoted(name)}.`);
  const others = categories().filter((category) => category.name !== name && before.has(category.name) && before.get(category.name) !== category.key);
  const moved = others.map((category) => (category.key === null ? `${quoted(category.name)} has no key now.` : `${quoted(category.name)} has ${keyShown(category.key)} instead.`));
  if (reply && moved.length > 0) showSaved([savedWords(reply.saved), ...moved].join(" "), reply.saved.warning);
}

/** Undo the last step; where a colleague has built on it, offer ways on. */
export async function undo() {
  const reply = await done("/api/undo", {}, {}, "The last step was undone.", { failed: "Not undone" });
  if (reply === null) await offerWaysOn();
  return reply;
}

/**
 * Undo one of the expert's steps, and before it later ones that depend on it.
 * @param {number} entry
 * @param {number[]} others
 */
export function undoEntry(entry, others = []) {
  return done("/api/undo", {}, { entry, others }, "A step was undone.", { failed: "Not undone" });
}

/**
 * @param {number} fraction
 * @param {number} experts
 */
export function planOverlap(fraction, experts) {
  const number = /** @type {2|3|4|5} */ (experts);
  return done("/api/overlap", {}, { fraction, experts: number }, `${100 * fraction} % of rows are asked to ${experts} experts.`);
}

/**
 * Change an answer; its row is sent as well, since the number may belong to another question by now.
 * @param {number} number
 * @param {number|null} row
 * @param {string|null} label
 */
export function changeAnswer(number, row, label) {
  const words = `Answer ${number} was changed to ${label === null ? "skipped" : quoted(label)}.`;
  return done("/api/answers/{number}", { number }, { row, label }, words, { method: "PATCH" });
}

/**
 * @param {number[]} rows
 * @param {string} label
 * @param {Confidence} confidence
 */
export function labelRows(rows, label, confidence = null) {
  return done("/api/labels", {}, { rows, label, confidence }, `Label ${quoted(label)} for ${counted(rows.length, "row")}.`);
}

/**
 * @param {string} old
 * @param {string} name
 */
export function rename(old, name) {
  return done("/api/categories/rename", {}, { old, new: name }, `${quoted(old)} was renamed to ${quoted(name)}.`);
}

/**
 * @param {string} into
 * @param {string[]} others
 */
export function merge(into, others) {
  return done("/api/categories/merge", {}, { into, others }, `Merge ${listed(others.map(quoted))} into ${quoted(into)}.`);
}

/** @param {string} name */
export function deleteCategory(name) {
  return done("/api/categories/delete", {}, { name }, `${quoted(name)} was deleted.`);
}

/**
 * @param {number} row
 * @param {string} id
 * @param {string} label
 */
export function settle(row, id, label) {
  return done("/api/disagreements/{row}", { row }, { label }, `${id} was settled as ${quoted(label)}.`);
}

/**
 * Import a file of labels that was previewed.
 * @param {string} upload
 * @param {string} name
 * @param {"keep"|"take"|"opinion"} onConflict
 * @param {string|null} asExpert
 */
export function importLabels(upload, name, onConflict, asExpert) {
  return done("/api/imports", {}, { upload, on_conflict: onConflict, as_expert: asExpert }, `Labels of ${name} are imported.`, { failed: "Not imported" });
}

/** @typedef {{rows?: number[], query?: import("./types.js").RowQuery, count?: number, learnt?: number|null}} SelectedRows */

/**
 * Accept the suggestions for rows.
 * @param {SelectedRows} selected
 * @param {number} count
 */
export function acceptRows(selected, count) {
  return done("/api/review/accept", {}, selected, `Accept ${counted(count, "suggestion")}.`);
}

/**
 * Label rows by hand.
 * @param {SelectedRows} selected
 * @param {number} count
 * @param {string} label
 */
export function moveRows(selected, count, label) {
  return done("/api/review/move", {}, { ...selected, label }, `Label ${quoted(label)} for ${counted(count, "row")}.`);
}

/**
 * Rows are not of a category.
 * @param {SelectedRows} selected
 * @param {number} count
 * @param {string} label
 */
export function rejectRows(selected, count, label) {
  return done("/api/review/reject", {}, { ...selected, label }, `${counted(count, "row")}: not ${quoted(label)}.`);
}

/**
 * @param {SelectedRows} selected
 * @param {number} count
 */
export function markUnsure(selected, count) {
  return done("/api/review/unsure", {}, selected, `${counted(count, "row")} marked as undecided.`);
}

/**
 * Remove the labels of rows.
 * @param {SelectedRows} selected
 * @param {number} count
 */
export function reopenRows(selected, count) {
  return done("/api/review/reopen", {}, selected, `${counted(count, "row")} opened again.`);
}

/**
 * @param {SelectedRows} selected
 * @param {number} count
 * @param {boolean} isOn
 */
export function flagRows(selected, count, isOn) {
  return done("/api/review/flag", {}, { ...selected, is_on: isOn }, `${counted(count, "row")} ${isOn ? "flagged" : "no longer flagged"}.`);
}
