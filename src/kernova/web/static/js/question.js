/** The current question: what the row looks like, why it is asked, and the expert's answer. */

import { answer, askNext, leaveUnknown, skip, undo } from "./actions.js";
import { answerPad } from "./answers.js";
import { onCategoryKey, startCategoryKeys } from "./category_keys.js";
import { clusterPanel } from "./cluster.js";
import { downloadLinks } from "./downloads.js";
import { button, byId, element, fill, focusedElement } from "./dom.js";
import { openExamples } from "./compare.js";
import { contextList } from "./context.js";
import { featureList } from "./features.js";
import { guessButton } from "./guess.js";
import { bind } from "./keys.js";
import { largeMedia, startMedia } from "./media.js";
import { openAlike } from "./more_like.js";
import { askName } from "./naming.js";
import { onOutbox, outbox } from "./outbox.js";
import { addTag, editNote, showRemarks, toggleFlag } from "./remarks.js";
import { startRoom } from "./room.js";
import { currentView, goTo } from "./router.js";
import { playSlower, silence, togglePlay } from "./sound.js";
import { categories, listen, phase, store } from "./store.js";
import { counted, worded } from "./words.js";

/** @typedef {import("./types.js").QuestionShown} Question */

/** A key pressed within this time after a question appeared was meant for the one before. */
const SETTLING_MS = 300;

const pad = answerPad({
  onName: give, onNew: () => void giveNew(), onSkip: () => pass(), onUnsure: () => pass({ unsure: true }), onUndo: takeBack,
  onNote: () => withCard(editNote), onFlag: () => withCard(toggleFlag), onAlso: () => withCard(addTag),
});
/** What is noted about the row; hidden where there is nothing. */
const remarks = element("p", { class: "remarks-line", "data-testid": "question-remarks", hidden: true });
const guess = guessButton(give);
/** @type {import("./cluster.js").ClusterPanel|null} */
let cluster = null;
let shownAt = -Infinity;
/** @type {Question|null|undefined} */
let shown;
let settling = 0;
/** Shown beside the number while the questions are about unknown rows. */
const amongUnknown = element("span", { class: "among-unknown", "data-testid": "among-unknown", hidden: true });

/** Build the view and bind its keys. */
export function startQuestion() {
  pad.node.prepend(guess.node);
  listen(["question"], showQuestion);
  listen(["isAmongUnknown"], showAmongUnknown);
  listen(["state"], () => pad.show());
  listen(["state", "expert"], () => phase() === "asking" && !store.isAsked && void askNext());
  onOutbox(showReadiness);
  startCategoryKeys();
  onCategoryKey("question", { choose: ({ name }, key) => store.question && give(name, `press ${key} again`), say: pad.showNotice });
  /** @type {(key: string, words: string, act: () => unknown) => void} */
  const whileAsking = (key, words, act) => bind(key, "Answer", words, () => isAsking() && act());
  whileAsking("n", "new category, or find one by typing", () => giveNew("press N again"));
  whileAsking("a", "label the whole cluster", () => cluster?.toggle());
  whileAsking("s", "skip this row", () => pass({ again: "press S again" }));
  whileAsking("d", "unsure: the row cannot be decided", () => pass({ unsure: true, again: "press D again" }));
  whileAsking("k", "how sure you are of the next answer: low, medium, high", pad.cycle);
  whileAsking("t", "note on this row", () => withCard(editNote, "press T again"));
  whileAsking("f", "flag this row, or remove its flag", () => withCard(toggleFlag, "press F again"));
  whileAsking("o", "a further label, where the project allows several", () => store.state?.has_further_labels && withCard(addTag, "press O again"));
  whileAsking("r", "rows like this one, to be labelled together", showAlike);
  whileAsking("y", "compare with labelled rows, side by side", showExamples);
  bind("Enter", "Answer", "accept the best guess", () => isAsking() && guess.accept(), "Enter");
  bind("u", "Answer", "undo your last step; can be repeated", () => takeBack("press U again"));
  bind(" ", "Sound", "play or pause the sound", togglePlay, "Space");
  bind("w", "Sound", "play slower: ½, ¼, ⅛, then normal speed again", playSlower);
  bind("Escape", "Answer", "label only this row, not the cluster; in other views, back to the question", () => (currentView() === "question" ? cluster?.reset() : store.expert && goTo("question")), "Esc");
  startMedia();
  startRoom();
}

function isSettled() {
  return performance.now() - shownAt >= SETTLING_MS;
}

/**
 * Whether an answer given now can only be meant for the question on the screen; if not, what came too early is said.
 * @param {string} again what the expert may do again
 */
function accepts(again = "do it again") {
  if (!store.question) return false;
  if (outbox.waiting > 0) pad.showNotice(`The answer before was still being saved; ${again}.`);
  else if (!isSettled()) pad.showNotice(`The question had just changed; ${again}.`);
  else return true;
  return false;
}

function isAsking() {
  return currentView() === "question" && store.question !== null;
}

function showReadiness() {
  document.body.dataset.accepts = store.question && outbox.waiting === 0 && isSettled() ? "yes" : "no";
  byId("view-question").setAttribute("aria-busy", String(outbox.waiting > 0));
}

/**
 * @param {string} label
 * @param {string} [again]
 */
function give(label, again = `choose ${label} again`) {
  if (!accepts(again) || !store.question || !cluster) return;
  pad.showNotice("");
  void answer(store.question, label, cluster.members(), pad.confidence());
}

async function giveNew(again = "choose New again") {
  const { question } = store;
  if (!accepts(again) || !question || !cluster) return;
  const count = cluster.count();
  const title = count > 1 ? `Label ${counted(count, "row")}` : `What is ${question.id}?`;
  const name = await askName({ title, words: categories().length ? "Type a new name to create a category, or choose an existing one." : "This will be the first category." });
  // While the name was typed, the question may have been answered elsewhere.
  if (name !== null && store.question === question) give(name);
}

function showAlike() {
  if (isAsking() && store.question) void openAlike([store.question.row]);
}

function showExamples() {
  if (isAsking() && store.question) void openExamples(store.question.row);
}

/** @param {{unsure?: boolean, again?: string}} [how] */
function pass({ unsure = false, again = `choose ${unsure ? "Unsure" : "Skip"} again` } = {}) {
  if (!accepts(again) || !store.question) return;
  pad.showNotice("");
  void skip(store.question, unsure);
}

/** @param {string} [again] */
function takeBack(again = "choose Undo again") {
  if (outbox.waiting === 0) void undo();
  else pad.showNotice(`The answer before was still being saved; ${again}.`);
}

/**
 * Note something about the row in question.
 * @param {(card: import("./types.js").Card) => unknown} act
 * @param {string} [again]
 */
function withCard(act, again) {
  if (accepts(again) && store.question) void act(store.question.card);
}

function showAmongUnknown() {
  amongUnknown.hidden = !store.isAmongUnknown;
  fill(amongUnknown, worded(", about the unknown rows "), button("Back to regular questions", leaveUnknown, { class: "small quiet", "data-testid": "leave-unknown" }));
}

function showQuestion() {
  if (store.question) {
    showRemarks(remarks, store.question.card);
    pad.showRemarks(store.question.card);
  }
  if (store.question && shown === store.question) return;
  shown = store.question;
  silence();
  pad.forgetConfidence();
  const view = byId("view-question");
  if (store.question) showAsked(view, store.question);
  else showNone(view);
  shownAt = performance.now();
  showReadiness();
  clearTimeout(settling);
  settling = setTimeout(showReadiness, SETTLING_MS + 5);
}

/**
 * @param {HTMLElement} view
 * @param {Question} question
 */
function showAsked(view, question) {
  const panel = clusterPanel(question, { onScope: () => pad.showScope(panel.isAll() ? panel.count() : null) });
  cluster = panel;
  pad.showScope(null);
  pad.show();
  const large = largeMedia(question.card, { isInHand: true });
  const values = element("section", { class: "values", "aria-labelledby": "values-heading" }, contextList(question.card),
    element("h2", { id: "values-heading" }, worded("Values compared with all rows")), featureList(question.card));
  const focused = view.contains(pad.node) && pad.node.contains(document.activeElement) ? focusedElement() : null;
  const layout = element("div", { class: large ? "asked" : "asked plain-rows", data: { row: String(question.row), number: String(question.number) } },
    element("div", { class: "seen-side" },
      element("div", { class: "show" }, large ?? values),
      large && question.card.features.length > 0 && values),
    element("div", { class: "answer-side" }, questionHead(question), pad.node, panel.node));
  fill(view, layout);
  focused?.focus({ preventScroll: true });
  if (currentView() === "question") scrollTo(0, 0);
}

/** @param {Question} question */
function questionHead(question) {
  return element("header", { class: "question-head" },
    element("p", { class: "kicker" }, question.is_blind ? element("span", { class: "for-comparison", "data-testid": "for-comparison" }, "For comparison") : `Question ${question.number}`, amongUnknown),
    element("h1", { id: "question-heading", "data-testid": "question-id" }, question.id),
    element("p", { class: "reason", "data-testid": "reason" }, question.reason),
    remarks,
    element("div", { class: "line" },
      button("More like this", showAlike, { class: "small quiet", "aria-keyshortcuts": "r", "data-testid": "question-more-like" }),
      button("Compare", showExamples, { class: "small quiet", "aria-keyshortcuts": "y", "data-testid": "question-compare" })));
}

/** @param {HTMLElement} view */
function showNone(view) {
  cluster = null;
  if (!store.isAsked) {
    return void fill(view, element("h1", { id: "question-heading", class: phase() === "asking" ? "" : "unseen" }, "Loading the question …"));
  }
  fill(view, element("h1", { id: "question-heading", "data-testid": "no-question" }, "No questions left"),
    element("p", { class: "lead" }, store.message || worded("Every row has been asked about or labelled.")),
    downloadLinks(), element("div", { class: "line" }, button("Undo the last step", () => takeBack(), { "data-testid": "undo" }), button("Check again", () => void askNext())));
}
