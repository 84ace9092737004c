/** The keys of the categories: one key, or 0 and a second one. A view says what choosing a category means there. */

import { bindCharacters, bindPair, boundKeys } from "./keys.js";
import { currentView } from "./router.js";
import { categories } from "./store.js";
import { keyShown, worded } from "./words.js";

/** @typedef {import("./types.js").Category} Category */
/** @typedef {{choose: (category: Category, shown: string) => void, say: (words: string) => void}} Chooser */

/** @type {Map<string, Chooser>} */
const choosers = new Map();

/** Bind the keys of all categories, whichever there will be. */
export function startCategoryKeys() {
  bindCharacters("Answer", "the category with this key", (key) => chooser() && withKey(key) && (() => choose(key)), "1 … 9");
  bindPair("0", "Answer", "and then a second key: categories with two keys; Esc cancels", {
    begin: () => chooser()?.say("0 … press the second key of the category, or Esc."),
    end: (second) => chooseSecond(second),
  });
}

/**
 * Let the keys of categories do something in a view.
 * @param {string} view
 * @param {Chooser} act `choose` gets the category, and its key as it is shown; `say` shows what is to be pressed next
 */
export function onCategoryKey(view, act) {
  choosers.set(view, act);
}

/**
 * What the page itself does with a key, in words; empty where it does nothing with it.
 * @param {string} key
 */
export function ownUse(key) {
  return worded(boundKeys().find((binding) => binding.key === key)?.words ?? "");
}

function chooser() {
  return choosers.get(currentView());
}

/** @param {string} key */
function withKey(key) {
  return categories().find((category) => category.key === key);
}

/** @param {string} key */
function choose(key) {
  const category = withKey(key);
  if (category) chooser()?.choose(category, keyShown(key));
}

/**
 * A letter that the page uses itself is reached with 0 before it, too.
 * @param {string|null} second null where it was cancelled
 */
function chooseSecond(second) {
  if (second === null) return chooser()?.say("");
  const key = [`0${second}`, second].find(withKey);
  if (key !== undefined) choose(key);
  else chooser()?.say(`No category has the keys ${keyShown(`0${second}`)}.`);
}
