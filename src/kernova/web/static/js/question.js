/** The question in hand: what the row looks like, why it is asked, and what the expert says to it. */

import { answer, askNext, leaveUnknown, skip, undo } from "./actions.js";
import { answerPad } from "./answers.js";
import { clusterPanel } from "./cluster.js";
import { button, byId, element, fill } from "./dom.js";
import { featureList } from "./features.js";
import { bind } from "./keys.js";
import { largeMedia } from "./media.js";
import { askName } from "./naming.js";
import { onOutbox, outbox } from "./outbox.js";
import { picturePanel } from "./picture_tools.js";
import { currentView, goTo } from "./router.js";
import { playSlower, silence, togglePlay } from "./sound.js";
import { categories, listen, phase, store } from "./store.js";
import { counted } from "./words.js";
import { downloadLinks } from "./downloads.js";

/** A press within this time after a question came up belongs to the one before: nobody sees a row so fast. */
const SETTLING_MS = 300;

let pad;
let cluster = null;
let shownAt = -Infinity;
let shown;
let settling = 0;
/** Stands beside the number while unknown rows are asked. */
const amongUnknown = element("span", { class: "among-unknown", "data-testid": "among-unknown", hidden: true }, ", among the unknown rows ",
  button("Back to the usual ones", leaveUnknown, { class: "small quiet", "data-testid": "leave-unknown" }));

/** Build the view and bind its keys. */
export function startQuestion() {
  pad = answerPad({ onName: give, onNew: giveNew, onSkip: pass, onUndo: takeBack });
  listen("question", showQuestion);
  listen("isAmongUnknown", () => (amongUnknown.hidden = !store.isAmongUnknown));
  listen("state", () => pad.show());
  listen("state expert", () => phase() === "asking" && !store.isAsked && void askNext());
  onOutbox(showReadiness);
  for (let place = 0; place < 9; place += 1) {
    const act = () => isAsking() && categories()[place] && give(categories()[place].name);
    bind(String(place + 1), "Answer", "the category with this number", act, place === 0 ? "1 … 9" : "");
  }
  bind("n", "Answer", "a new category, or any by its first letters", () => isAsking() && giveNew());
  bind("a", "Answer", "the next name goes to the whole cluster", () => isAsking() && cluster?.toggle());
  bind("s", "Answer", "skip: pass over this row", () => isAsking() && pass());
  bind("u", "Answer", "undo what you said last; may be repeated", takeBack);
  bind(" ", "Listen", "play the sound, or stop it", togglePlay, "Space");
  bind("w", "Listen", "play slower: ½, ¼, ⅛, and again as it is", playSlower);
  bind("Escape", "Answer", "only this row, not the cluster; from elsewhere, back to the question", () => (currentView() === "question" ? cluster?.reset() : store.expert && goTo("question")), "Esc");
}

/** Whether what is said now can only be meant for the question in sight. */
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

function give(label) {
  if (!accepts()) return;
  const members = cluster.members();
  void answer(store.question, label, members);
}

async function giveNew() {
  if (!accepts()) return;
  const { question } = store;
  const count = cluster.count();
  const title = count > 1 ? `Name ${counted(count, "row")} together` : `What is ${question.id}?`;
  const name = await askName({ title, words: categories().length ? "A new name makes a new category; a known one can be chosen." : "The first category." });
  // While the name was typed, the question may have been answered elsewhere.
  if (name !== null && store.question === question) give(name);
}

function pass() {
  if (accepts()) void skip(store.question);
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

function showAsked(view, question) {
  cluster = clusterPanel(question, { onScope: () => pad.showScope(cluster.isAll() ? cluster.count() : null) });
  pad.showScope(null);
  pad.show();
  const large = largeMedia(question.card, { isInHand: true });
  const values = element("section", { class: "values", "aria-labelledby": "values-heading" },
    element("h2", { id: "values-heading" }, "Its values against all rows"), featureList(question.card.features));
  const keepsFocus = view.contains(document.activeElement) && pad.node.contains(document.activeElement);
  const layout = element("div", { class: large ? "asked" : "asked plain-rows", data: { row: String(question.row), number: String(question.number) } },
    element("div", { class: "seen-side" },
      element("div", { class: "show" }, large ? (question.card.media.picture ? picturePanel(large) : large) : values),
      large && question.card.features.length > 0 && values),
    element("div", { class: "said-side" }, questionHead(question), pad.node, cluster.node));
  const focused = keepsFocus ? document.activeElement : null;
  fill(view, layout);
  focused?.focus({ preventScroll: true });
  if (currentView() === "question") scrollTo(0, 0);
}

function questionHead(question) {
  return element("header", { class: "question-head" },
    element("p", { class: "kicker" }, `Question ${question.number}`, amongUnknown),
    element("h1", { id: "question-heading", "data-testid": "question-id" }, question.id),
    element("p", { class: "reason", "data-testid": "reason" }, question.reason));
}

function showNone(view) {
  cluster = null;
  if (!store.isAsked) {
    return void fill(view, element("h1", { id: "question-heading", class: phase() === "asking" ? "" : "unseen" }, "The question comes …"));
  }
  fill(view, element("h1", { id: "question-heading", "data-testid": "no-question" }, "No question is left"),
    element("p", { class: "lead" }, store.message || "Every row has been asked or named."),
    downloadLinks(), element("div", { class: "line" }, button("Undo the last step", takeBack, { "data-testid": "undo" }), button("Look again", () => void askNext())));
}
