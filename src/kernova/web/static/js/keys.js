/** Single-key shortcuts. They are off while something is typed, while a dialog is open, and when turned off. */

import { keep, kept } from "./kept.js";

/** @typedef {{key: string, words: string, act: (event: KeyboardEvent) => unknown, shown: string, group: string}} Binding */

/** @type {Map<string, Binding>} */
const bindings = new Map();

/**
 * Let a key do something; the help shows it under its group with these words.
 * @param {string} key
 * @param {string} group
 * @param {string} words
 * @param {Binding["act"]} act
 * @param {string} [shown] how the help writes the key; empty leaves it out
 */
export function bind(key, group, words, act, shown = key.toUpperCase()) {
  bindings.set(key, { key, group, words, act, shown });
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
    const binding = bindingFor(event);
    if (!binding || !isForUs(event)) return;
    event.preventDefault();
    binding.act(event);
  });
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

/** @param {KeyboardEvent} event */
function bindingFor(event) {
  const named = bindings.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (named) return named;
  // On some keyboards digits need Shift: there the physical key counts, whatever is printed on it.
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  return digit && !event.shiftKey ? bindings.get(digit[1]) : undefined;
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
