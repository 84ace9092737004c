/** Help: what the page is for, and its keys. */

import { openDialog } from "./dialogs.js";
import { byId, element } from "./dom.js";
import { areKeysOn, bind, boundKeys, switchKeys } from "./keys.js";
import { mediaKind } from "./media.js";
import { store } from "./store.js";
import { worded } from "./words.js";

/** @typedef {import("./keys.js").Binding} Binding */

/**
 * Keys that are of use only where rows have a sound or a picture.
 * @type {Object<string, string>}
 */
const NEEDED_KIND = { Sound: "sound", Picture: "picture" };

/** Bind ? and the button. */
export function startHelp() {
  bind("?", "Go to", "this help", openHelp);
  byId("help-button").addEventListener("click", openHelp);
}

function openHelp() {
  /** @type {Map<string, Binding[]>} */
  const groups = new Map();
  /** @param {Binding} binding */
  const isOfUse = ({ shown, group }) => shown && (NEEDED_KIND[group] ?? mediaKind()) === mediaKind();
  for (const binding of boundKeys().filter(isOfUse)) groups.set(binding.group, [...(groups.get(binding.group) ?? []), binding]);
  const lists = [...groups].map(([group, bindings]) => element("section", {}, element("h3", {}, group),
    element("dl", { class: "keys" }, ...bindings.flatMap(({ shown, words }) => [element("dt", {}, element("kbd", {}, shown)), element("dd", {}, worded(words))]))));
  const box = element("input", { type: "checkbox", checked: areKeysOn(), on: { change: () => switchKeys(box.checked) } });
  openDialog("Help", [
    element("p", {}, worded("The program shows a row and you say which category it belongs to. It chooses the rows so that every category is discovered with few questions.")),
    element("p", {}, `Every answer is on disk before the page says “Saved”. Answers are stored in ${store.session?.project ?? "the project file"}; to continue later, run the same command.`),
    element("div", { class: "key-groups" }, ...lists),
    element("p", { class: "hint" }, worded("On the map: arrow keys pan, + and − zoom, 0 shows all rows, Enter opens the row at the crosshair.")),
    element("label", { class: "check-line" }, box, "Single-key shortcuts (turn them off if you use dictation)"),
  ], { testid: "help", isWide: true });
}
