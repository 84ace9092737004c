/** Single-key shortcuts. They are off while something is typed, while a dialog is open, and when turned off. */

import { keep, kept } from "./kept.js";

/** @typedef {{key: string, words: string, act: (event: KeyboardEvent) => unknown, shown: string, group: string}} Binding */
/** @typedef {{begin: () => void, end: (second: string|null) => void}} Pair what happens at the first key, and at the second; null where it was cancelled */

/** @type {Map<string, Binding>} */
const bindings = new Map();
/** @type {(character: string) => (() => unknown)|undefined|false} */
let characters = () => undefined;
/** @type {Pair|null} the pair whose second key is awaited */
let awaited = null;

/**
 * Let a key do something; the help shows it under its group with these words.
 * @param {string} key
 * @param {string} group
 * @param {string} words
 * @param {Binding["act"]} act
 * @param {string} [shown] how the help writes the key; empty leaves it out
 */
export function bind(key, group, words, act, shown = key.toUpperCase()) {
  if (bindings.has(key)) throw new Error(`The key ${key} has two uses.`);
  bindings.set(key, { key, group, words, act, shown });
}

/**
 * Let digits and letters that have no use of their own do something.
 * @param {string} group
 * @param {string} words
 * @param {typeof characters} actOf what a character does, if anything
 * @param {string} shown how the help writes them
 */
export function bindCharacters(group, words, actOf, shown) {
  characters = actOf;
  bindings.set("", { key: "", group, words, act: () => {}, shown });
}

/**
 * Let a key wait for a second one.
 * @param {string} key
 * @param {string} group
 * @param {string} words
 * @param {Pair} pair
 */
export function bindPair(key, group, words, pair) {
  bind(key, group, words, () => {
    awaited = pair;
    pair.begin();
  });
}

/** Whether a second key is awaited, which then has no other meaning. */
export function isSecondAwaited() {
  return awaited !== null;
}

/** @type {Binding[]} */
const explained = [];

/**
 * Let the help show keys that a view handles itself.
 * @param {string} shown
 * @param {string} group
 * @param {string} words
 */
export function explain(shown, group, words) {
  explained.push({ key: shown, group, words, act: () => {}, shown });
}

/** All keys, for the help. */
export function boundKeys() {
  return [...bindings.values(), ...explained];
}

/** Whether single keys work. */
export function areKeysOn() {
  return kept("keys") !== "off";
}

/**
 * Turn single keys on or off: they interfere with dictation.
 * @param {boolean} isOn
 */
export function switchKeys(isOn) {
  keep("keys", isOn ? null : "off");
}

/** Begin to listen. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(targetOf(event)) && !document.querySelector("dialog[open]")) return leaveField(event);
    if (!isForUs(event)) return;
    const act = awaited ? secondOf(event, awaited) : actOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("pointerdown", () => endPair(null));
}

/**
 * Leave a field, so that single keys work again.
 * @param {KeyboardEvent} event
 */
function leaveField(event) {
  const view = targetOf(event)?.closest(".view");
  if (!event.defaultPrevented && view instanceof HTMLElement) view.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
function targetOf(event) {
  return event.target instanceof Element ? event.target : null;
}

/**
 * What a key does, if anything.
 * @param {KeyboardEvent} event
 * @returns {(() => unknown)|undefined|false}
 */
function actOf(event) {
  for (const character of meantBy(event)) {
    const binding = bindings.get(character);
    if (binding) return () => binding.act(event);
    const act = characters(character);
    if (act) return act;
  }
  return undefined;
}

/**
 * Escape and keys of more than one letter, such as Tab, cancel a pair; Shift and its like are no keys.
 * @param {KeyboardEvent} event
 * @param {Pair} pair
 */
function secondOf(event, pair) {
  if (["Shift", "CapsLock", "NumLock", "AltGraph"].includes(event.key)) return undefined;
  const second = meantBy(event).find((character) => /^[\p{L}\p{N}]$/u.test(character));
  if (second === undefined && event.key !== "Escape") return void endPair(null);
  return () => awaited === pair && endPair(second ?? null);
}

/** @param {string|null} second */
function endPair(second) {
  const pair = awaited;
  awaited = null;
  pair?.end(second);
}

/**
 * What a key stands for. On some keyboards digits need Shift: there the physical key counts, too, whatever is printed on it.
 * @param {KeyboardEvent} event
 */
function meantBy({ key, code, shiftKey }) {
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(code);
  const printed = key.length === 1 ? key.toLowerCase() : key;
  return digit && !shiftKey && printed !== digit[1] ? [printed, digit[1]] : [printed];
}

/** @param {KeyboardEvent} event */
function isForUs(event) {
  if (event.defaultPrevented || event.repeat || event.isComposing) return false;
  if (event.ctrlKey || event.altKey || event.metaKey) return false;
  if (document.querySelector("dialog[open]") || isTyping(targetOf(event))) return false;
  // These press the control that has the focus.
  if ((event.key === " " || event.key === "Enter") && targetOf(event)?.closest("button, a, input, select, summary, label")) return false;
  return areKeysOn() || event.key === "?";
}

/**
 * Whether what is typed goes into a field.
 * @param {Element|null} target
 */
export function isTyping(target) {
  if (target?.closest("textarea, select, [contenteditable]")) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}
