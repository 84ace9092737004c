/** Light, dark, or as the system has it: a switch between the three. */

import { byId, fill } from "./dom.js";
import { keep, kept } from "./kept.js";

const NEXT = { system: "light", light: "dark", dark: "system" };
const SIGNS = { system: "◐", light: "☀", dark: "☾" };
const WORDS = { system: "as the system has it", light: "light", dark: "dark" };
const watchers = new Set();
const system = matchMedia("(prefers-color-scheme: dark)");

/** Be told when colours change, as drawings outside of style sheets must. */
export function onTheme(listener) {
  watchers.add(listener);
}

/** Make the switch work. */
export function startTheme() {
  byId("theme-button").addEventListener("click", () => show(NEXT[chosen()]));
  system.addEventListener("change", tell);
  show(chosen());
}

function chosen() {
  const theme = kept("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

function show(theme) {
  keep("theme", theme === "system" ? null : theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const words = `Colours: ${WORDS[theme]}. Switch to ${WORDS[NEXT[theme]]}.`;
  const control = fill(byId("theme-button"), SIGNS[theme]);
  control.setAttribute("aria-label", words);
  control.title = words;
  tell();
}

function tell() {
  for (const listener of watchers) listener();
}
