/** Single keys for one hand. They rest while something is typed, while a dialog is open, and when switched off. */

import { keep, kept } from "./kept.js";

/** @typedef {{key: string, words: string, act: (event: KeyboardEvent) => void, shown?: string, group: string}} Binding */

/** @type {Map<string, Binding>} */
const bindings = new Map();

/** Let a key do something; the help shows it under its group with these words. */
export function bind(key, group, words, act, shown = key.toUpperCase()) {
  bindings.set(key, { key, group, words, act, shown });
}

/** All keys, for the help. */
export function boundKeys() {
  return [...bindings.values()];
}

/** Whether single keys work. */
export function areKeysOn() {
  return kept("keys") !== "off";
}

/** Switch single keys on or off: they are in the way of some who dictate. */
export function switchKeys(isOn) {
  keep("keys", isOn ? null : "off");
}

/** Begin to listen. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(event.target) && !document.querySelector("dialog[open]")) return leaveField(event);
    const binding = bindingFor(event);
    if (!binding || !isForUs(event)) return;
    event.preventDefault();
    binding.act(event);
  });
}

/** Out of a field, so that single keys work again. */
function leaveField(event) {
  if (!event.defaultPrevented) event.target.closest(".view")?.focus({ preventScroll: true });
}

function bindingFor(event) {
  const named = bindings.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (named) return named;
  // On some keyboards figures need Shift: there the key itself counts, whatever is printed on it.
  const figure = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  return figure && !event.shiftKey ? bindings.get(figure[1]) : undefined;
}

function isForUs(event) {
  if (event.defaultPrevented || event.repeat || event.isComposing) return false;
  if (event.ctrlKey || event.altKey || event.metaKey) return false;
  if (document.querySelector("dialog[open]") || isTyping(event.target)) return false;
  if (event.key === " " && event.target.closest("button, a, input, select, summary, label")) return false;
  return areKeysOn() || event.key === "?";
}

function isTyping(target) {
  if (target.closest("textarea, select, [contenteditable]")) return true;
  return target.matches("input") && !["checkbox", "radio", "button"].includes(target.type);
}
