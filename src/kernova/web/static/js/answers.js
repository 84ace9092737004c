/** The categories as buttons with keys, and the other answers to a question. */

import { button, byId, element, fill, focusedElement, say, within } from "./dom.js";
import { glyph } from "./glyph.js";
import { categories } from "./store.js";
import { counted, whole } from "./words.js";

/** @typedef {import("./types.js").Category} Category */

const KEYS = 9;

/**
 * Make the buttons that answer a question.
 * @param {{onName: (name: string) => void, onNew: () => void, onSkip: () => void, onUndo: () => void}} acts
 */
export function answerPad(acts) {
  const list = element("ul", { class: "answer-list", "data-testid": "answers" });
  /** @type {(key: string, words: string, act: () => void, testid: string) => HTMLElement} */
  const tool = (key, words, act, testid) => button([element("kbd", {}, key), ` ${words}`], byPointer(act), { class: "tool", "data-testid": testid, "aria-keyshortcuts": key });
  const others = element("div", { class: "answer-tools" },
    tool("N", "New or other …", acts.onNew, "new-category"), tool("S", "Skip", acts.onSkip, "skip"), tool("U", "Undo", acts.onUndo, "undo"));
  // One line for both, so that nothing moves when the whole cluster is to be labelled.
  const hint = element("p", { class: "scope", role: "status", "data-testid": "scope" });
  const node = element("div", { class: "answers", role: "group", "aria-label": "Which category is it?" }, list, others, hint);
  /** @type {string[]} */
  let shown = [];
  /** @type {number|null} */
  let count = null;

  function show() {
    const now = categories();
    const names = now.map(({ name, colour }) => `${colour} ${name}`);
    if (names.join("\n") !== shown.join("\n") || list.childElementCount === 0) rebuild(now);
    shown = names;
    now.forEach(({ rows }, index) => fill(within(list.children[index], "small"), whole(rows)));
    showHint();
  }
  /**
   * New buttons only where the names have changed: the focus stays where it was.
   * @param {Category[]} now
   */
  function rebuild(now) {
    const focused = list.contains(document.activeElement) ? focusedElement()?.dataset.name : undefined;
    fill(list, ...now.map((category, index) => element("li", {}, answerButton(category, index, acts.onName))));
    if (focused !== undefined) [...list.querySelectorAll("button")].find((one) => one.dataset.name === focused)?.focus();
  }
  function showHint() {
    hint.classList.toggle("is-all", count !== null);
    if (count !== null) say(hint, `The label applies to ${counted(count, "row")}; press A for this row only.`);
    else if (shown.length === 0) say(hint, "No categories yet: press N and type a name.");
    else say(hint, shown.length > KEYS ? "Press N to find categories without a number." : "The label applies to this row only.");
  }
  /** @param {number|null} rows */
  function showScope(rows) {
    count = rows;
    showHint();
  }
  return { node, show, showScope };
}

/**
 * @param {Category} category
 * @param {number} index
 * @param {(name: string) => void} onName
 */
function answerButton({ name, colour, rows }, index, onName) {
  const key = index < KEYS ? String(index + 1) : null;
  return button([element("kbd", {}, key ?? ""), glyph(colour), element("span", { class: "answer-name" }, name), element("small", {}, whole(rows))],
    byPointer(() => onName(name)), { data: { name }, "data-testid": `answer-${index + 1}`, "aria-keyshortcuts": key, title: name });
}

/**
 * After a click the focus goes to the question: Space, which plays a sound, must not press the button again.
 * @param {() => void} act
 * @returns {(event: MouseEvent) => void}
 */
export function byPointer(act) {
  return (event) => {
    if (event.detail > 0) byId("view-question").focus({ preventScroll: true });
    act();
  };
}
