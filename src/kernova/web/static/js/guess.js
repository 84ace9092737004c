/** The best guess for the row in question, with its probability, which one key accepts. */

import { byPointer } from "./answers.js";
import { get } from "./api.js";
import { button, element, fill } from "./dom.js";
import { glyph } from "./glyph.js";
import { categoryNamed, listen, store } from "./store.js";

/** @typedef {import("./types.js").Guess} Guess */

/**
 * Make the button; without a guess it keeps its place, so that nothing moves when one comes.
 * @param {(name: string, again?: string) => void} onAccept
 */
export function guessButton(onAccept) {
  const node = element("div", { class: "guess", "data-testid": "guess" });
  /** @type {Guess|null} */
  let guess = null;
  /** @type {number|null|undefined} */
  let shownFor;

  /** @param {Guess|null} found */
  function show(found) {
    guess = found;
    if (!found) return void fill(node);
    const { category, probability, is_unlike: isUnlike } = found;
    const percent = `${Math.min(99, Math.floor(100 * probability))} %`;
    fill(node, button([element("kbd", {}, "⏎"), element("span", { class: "guess-words" }, "Best guess"), glyph(categoryNamed(category)?.colour),
      element("span", { class: "answer-name" }, category), element("small", {}, isUnlike ? `${percent}, but it is unlike all labelled rows` : percent)],
    byPointer(accept), { "data-testid": "accept-guess", "aria-keyshortcuts": "Enter", title: category }));
  }

  function accept() {
    if (guess) onAccept(guess.category, "press Enter again");
  }

  listen(["question"], () => {
    shownFor = store.state?.learn.generation;
    show(store.question?.guess ?? null);
  });
  // It is learnt again while the question is on the screen.
  listen(["state"], () => {
    const { question, state } = store;
    if (!question || question.is_blind || state?.learn.generation === shownFor) return;
    shownFor = state?.learn.generation;
    void get("/api/learn/rows/{row}", { row: question.row }).then(({ suggested, probability, verdict }) => {
      if (store.question !== question) return;
      show(suggested === null || !probability ? null : { category: suggested, probability, is_unlike: verdict === "unknown" });
    }).catch(() => {});
  });
  return { node, accept };
}
