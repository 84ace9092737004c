/** Light, dark, or the system's theme: a switch between the three. */

import { byId, fill } from "./dom.js";
import { keep, kept } from "./kept.js";

/** @typedef {"system"|"light"|"dark"} Theme */

/** @type {Record<Theme, Theme>} */
const NEXT = { system: "light", light: "dark", dark: "system" };
const SIGNS = { system: "◐", light: "☀", dark: "☾" };
const WORDS = { system: "system", light: "light", dark: "dark" };
/** @type {Set<() => void>} */
const watchers = new Set();
const system = matchMedia("(prefers-color-scheme: dark)");

/**
 * Call the listener when colours change: drawings on a canvas do not follow the style sheets.
 * @param {() => void} listener
 */
export function onTheme(listener) {
  watchers.add(listener);
}

/** Make the switch work. */
export function startTheme() {
  byId("theme-button").addEventListener("click", () => show(NEXT[chosen()]));
  system.addEventListener("change", tell);
  show(chosen());
}

/** @returns {Theme} */
function chosen() {
  const theme = kept("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** @param {Theme} theme */
function show(theme) {
  keep("theme", theme === "system" ? null : theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const words = `Theme: ${WORDS[theme]}. Switch to ${WORDS[NEXT[theme]]}.`;
  const control = fill(byId("theme-button"), SIGNS[theme]);
  control.setAttribute("aria-label", words);
  control.title = words;
  tell();
}

function tell() {
  for (const listener of watchers) listener();
}
