/** The current question: what the row looks like, why it is asked, and the expert's answer. */

import { answer, askNext, leaveUnknown, skip, undo } from "./actions.js";
import { answerPad } from "./answers.js";
import { clusterPanel } from "./cluster.js";
import { downloadLinks } from "./downloads.js";
import { button, byId, element, fill, focusedElement } from "./dom.js";
import { featureList } from "./features.js";
import { bind } from "./keys.js";
import { largeMedia } from "./media.js";
import { openAlike } from "./more_like.js";
import { askName } from "./naming.js";
import { onOutbox, outbox } from "./outbox.js";
import { picturePanel, startPictureTools } from "./picture_tools.js";
import { currentView, goTo } from "./router.js";
import { playSlower, silence, togglePlay } from "./sound.js";
import { categories, listen, phase, store } from "./store.js";
import { counted } from "./words.js";

/** @typedef {import("./types.js").QuestionShown} Question */

/** A key pressed within this time after a question appeared was meant for the one before. */
const SETTLING_MS = 300;

const pad = answerPad({ onName: give, onNew: giveNew, onSkip: pass, onUndo: takeBack });
/** @type {import("./cluster.js").ClusterPanel|null} */
let cluster = null;
let shownAt = -Infinity;
/** @type {Question|null|undefined} */
let shown;
let settling = 0;
/** Shown beside the number while the questions are about unknown rows. */
const amongUnknown = element("span", { class: "among-unknown", "data-testid": "among-unknown", hidden: true }, ", about the unknown rows ",
  button("Back to regular questions", leaveUnknown, { class: "small quiet", "data-testid": "leave-unknown" }));

/** Build the view and bind its keys. */
export function startQuestion() {
  listen(["question"], showQuestion);
  listen(["isAmongUnknown"], () => (amongUnknown.hidden = !store.isAmongUnknown));
  listen(["state"], () => pad.show());
  listen(["state", "expert"], () => phase() === "asking" && !store.isAsked && void askNext());
  onOutbox(showReadiness);
  for (let index = 0; index < 9; index += 1) {
    const act = () => isAsking() && categories()[index] && give(categories()[index].name);
    bind(String(index + 1), "Answer", "the category with this number", act, index === 0 ? "1 … 9" : "");
  }
  bind("n", "Answer", "new category, or find one by typing", () => isAsking() && giveNew());
  bind("a", "Answer", "label the whole cluster", () => isAsking() && cluster?.toggle());
  bind("s", "Answer", "skip this row", () => isAsking() && pass());
  bind("r", "Answer", "rows like this one, to be labelled together", showAlike);
  bind("u", "Answer", "undo your last step; can be repeated", takeBack);
  bind(" ", "Sound", "play or pause the sound", togglePlay, "Space");
  bind("w", "Sound", "play slower: ½, ¼, ⅛, then normal speed again", playSlower);
  bind("Escape", "Answer", "label only this row, not the cluster; in other views, back to the question", () => (currentView() === "question" ? cluster?.reset() : store.expert && goTo("question")), "Esc");
  startPictureTools();
}

/** Whether an answer given now can only be meant for the question on the screen. */
function accepts() {
  return Boolean(store.question) && outbox.waiting === 0 && performance.now() - shownAt >= SETTLING_MS;
}

function isAsking() {
  return currentView() === "question" && store.question !== null;
}

function showReadiness() {
  document.body.dataset.accepts = accepts() ? "yes" : "no";
  byId("view-question").setAttribute("aria-busy", String(outbox.waiting > 0));
}

/** @param {string} label */
function give(label) {
  if (accepts() && store.question && cluster) void answer(store.question, label, cluster.members());
}

async function giveNew() {
  const { question } = store;
  if (!accepts() || !question || !cluster) return;
  const count = cluster.count();
  const title = count > 1 ? `Label ${counted(count, "row")}` : `What is ${question.id}?`;
  const name = await askName({ title, words: categories().length ? "Type a new name to create a category, or choose an existing one." : "This will be the first category." });
  // While the name was typed, the question may have been answered elsewhere.
  if (name !== null && store.question === question) give(name);
}

function showAlike() {
  if (isAsking() && store.question) void openAlike(store.question.row);
}

function pass() {
  if (accepts() && store.question) void skip(store.question);
}

function takeBack() {
  if (outbox.waiting === 0) void undo();
}

function showQuestion() {
  if (store.question && shown === store.question) return;
  shown = store.question;
  silence();
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
  const values = element("section", { class: "values", "aria-labelledby": "values-heading" },
    element("h2", { id: "values-heading" }, "Values compared with all rows"), featureList(question.card.features));
  const focused = view.contains(pad.node) && pad.node.contains(document.activeElement) ? focusedElement() : null;
  const layout = element("div", { class: large ? "asked" : "asked plain-rows", data: { row: String(question.row), number: String(question.number) } },
    element("div", { class: "seen-side" },
      element("div", { class: "show" }, large ? (question.card.media.picture ? picturePanel(large) : large) : values),
      large && question.card.features.length > 0 && values),
    element("div", { class: "answer-side" }, questionHead(question), pad.node, panel.node));
  fill(view, layout);
  focused?.focus({ preventScroll: true });
  if (currentView() === "question") scrollTo(0, 0);
}

/** @param {Question} question */
function questionHead(question) {
  return element("header", { class: "question-head" },
    element("p", { class: "kicker" }, question.is_blind ? element("span", { class: "comparison", "data-testid": "for-comparison" }, "For comparison") : `Question ${question.number}`, amongUnknown),
    element("h1", { id: "question-heading", "data-testid": "question-id" }, question.id),
    element("p", { class: "reason", "data-testid": "reason" }, question.reason),
    button("More like this", showAlike, { class: "small quiet", "aria-keyshortcuts": "r", "data-testid": "question-more-like" }));
}

/** @param {HTMLElement} view */
function showNone(view) {
  cluster = null;
  if (!store.isAsked) {
    return void fill(view, element("h1", { id: "question-heading", class: phase() === "asking" ? "" : "unseen" }, "Loading the question …"));
  }
  fill(view, element("h1", { id: "question-heading", "data-testid": "no-question" }, "No questions left"),
    element("p", { class: "lead" }, store.message || "Every row has been asked about or labelled."),
    downloadLinks(), element("div", { class: "line" }, button("Undo the last step", takeBack, { "data-testid": "undo" }), button("Check again", () => void askNext())));
}
