/** Help: what the page is for, and its keys. */

import { openDialog } from "./dialogs.js";
import { byId, element } from "./dom.js";
import { areKeysOn, bind, boundKeys, switchKeys } from "./keys.js";
import { mediaKind } from "./media.js";
import { store } from "./store.js";

/** Keys that are of use only where rows can be heard or seen. */
const NEEDED_KIND = { Listen: "sound", Look: "picture" };

/** Bind ? and the button. */
export function startHelp() {
  bind("?", "Go to", "this help", openHelp);
  byId("help-button").addEventListener("click", openHelp);
}

function openHelp() {
  const groups = new Map();
  const isOfUse = ({ shown, group }) => shown && (NEEDED_KIND[group] ?? mediaKind()) === mediaKind();
  for (const binding of boundKeys().filter(isOfUse)) groups.set(binding.group, [...(groups.get(binding.group) ?? []), binding]);
  const lists = [...groups].map(([group, bindings]) => element("section", {}, element("h3", {}, group),
    element("dl", { class: "keys" }, ...bindings.flatMap(({ shown, words }) => [element("dt", {}, element("kbd", {}, shown)), element("dd", {}, words)]))));
  const box = element("input", { type: "checkbox", checked: areKeysOn(), on: { change: () => switchKeys(box.checked) } });
  openDialog("Help", [
    element("p", {}, "The program shows a row; you say what it is. It chooses rows so that every category turns up after few questions."),
    element("p", {}, `Each answer is on the disk before you read “Saved”. It is kept in ${store.session?.project ?? "the project"}; the same command goes on from there.`),
    element("div", { class: "key-groups" }, ...lists),
    element("p", { class: "hint" }, "On the map: arrows move, + and − zoom, 0 shows all, Enter looks at the row in the cross."),
    element("label", { class: "check-line" }, box, "Single keys work (switch them off if you dictate)"),
  ], { testid: "help", isWide: true });
}
