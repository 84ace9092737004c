/** The categories as buttons with keys, and what else can be said to a question. */

import { button, element, fill, say } from "./dom.js";
import { glyph } from "./glyph.js";
import { categories } from "./store.js";
import { counted, whole } from "./words.js";

const KEYS = 9;

/**
 * Make the buttons that answer a question.
 * @param {{onName: (name: string) => void, onNew: () => void, onSkip: () => void, onUndo: () => void}} acts
 */
export function answerPad(acts) {
  const list = element("ul", { class: "answer-list", "data-testid": "answers" });
  const tool = (key, words, act, testid) => button([element("kbd", {}, key), ` ${words}`], byPointer(act), { class: "tool", "data-testid": testid, "aria-keyshortcuts": key });
  const others = element("div", { class: "answer-tools" },
    tool("N", "New or other name", acts.onNew, "new-category"), tool("S", "Skip", acts.onSkip, "skip"), tool("U", "Undo", acts.onUndo, "undo"));
  // One line for both, so that nothing moves under the hand when the whole cluster is meant.
  const hint = element("p", { class: "scope", role: "status", "data-testid": "scope" });
  const node = element("div", { class: "answers", role: "group", "aria-label": "What is it?" }, list, others, hint);
  let shown = [];
  let count = null;

  function show() {
    const now = categories();
    const names = now.map(({ name, colour }) => `${colour} ${name}`);
    if (names.join("\n") !== shown.join("\n") || list.childElementCount === 0) rebuild(now);
    shown = names;
    now.forEach(({ rows }, place) => fill(list.children[place].querySelector("small"), whole(rows)));
    showHint();
  }
  /** New buttons only where the names have changed: focus stays where it was. */
  function rebuild(now) {
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    fill(list, ...now.map((category, place) => element("li", {}, answerButton(category, place, acts.onName))));
    if (focused !== null) [...list.querySelectorAll("button")].find((one) => one.dataset.name === focused)?.focus();
  }
  function showHint() {
    hint.classList.toggle("is-all", count !== null);
    if (count !== null) say(hint, `The next name goes to ${counted(count, "row")}; A: only to this one.`);
    else if (shown.length === 0) say(hint, "Nothing is named yet: press N and type what you see.");
    else say(hint, shown.length > KEYS ? `N and a few letters find those without a number.` : "A name goes to this row alone.");
  }
  function showScope(rows) {
    count = rows;
    showHint();
  }
  return { node, show, showScope };
}

function answerButton({ name, colour, rows }, place, onName) {
  const key = place < KEYS ? String(place + 1) : null;
  return button([element("kbd", {}, key ?? ""), glyph(colour), element("span", { class: "answer-name" }, name), element("small", {}, whole(rows))],
    byPointer(() => onName(name)), { data: { name }, "data-testid": `answer-${place + 1}`, "aria-keyshortcuts": key, title: name });
}

/** After a click the focus goes to the question: a Space that is to play must not press the button again. */
function byPointer(act) {
  return (event) => {
    if (event.detail > 0) document.getElementById("view-question").focus({ preventScroll: true });
    act();
  };
}
