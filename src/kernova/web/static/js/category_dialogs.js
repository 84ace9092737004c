/** Dialogs for a category's key, and for the headings that categories are under. */

import { chooseKey, group } from "./actions.js";
import { ownUse } from "./category_keys.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill, say } from "./dom.js";
import { glyph } from "./glyph.js";
import { categories } from "./store.js";
import { counted, keyShown, quoted } from "./words.js";

/** @typedef {import("./types.js").Category} Category */

const LONGEST_HEADING = 200;

/**
 * Ask for the key of a category.
 * @param {Category} category
 */
export function editKey({ name, key }) {
  const field = element("input", { type: "text", id: "category-key", class: "key-input", value: keyShown(key), maxlength: 3, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": "key-words key-rule", "data-testid": "key-input" });
  const words = element("p", { id: "key-words", class: "hint", role: "status", "data-testid": "key-words" });
  /** @param {string|null} chosen */
  const choose = (chosen) => {
    dialog.close();
    if (chosen !== key) void chooseKey(name, chosen);
  };
  const save = button("Save", () => choose(typed()), { class: "primary", "data-testid": "key-save" });
  const typed = () => field.value.replace(/\s/g, "").toLowerCase();
  const check = () => {
    const problem = problemWith(typed());
    save.disabled = problem !== "";
    say(words, problem || consequence(typed(), name));
  };
  field.addEventListener("input", check);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    if (!save.disabled) choose(typed());
  });
  const dialog = openDialog(`Key of ${quoted(name)}`, [
    element("p", { class: "line" }, element("label", { for: "category-key" }, "Key"), field),
    element("p", { class: "hint", id: "key-rule" }, "A digit from 1 to 9 or a letter; or 0 and then a digit or letter: two keys, pressed one after the other."), words,
    element("div", { class: "line ending" }, save, key !== null && button("No key", () => choose(null), { "data-testid": "key-none" })),
  ], { testid: "key-dialog" });
  check();
  field.focus();
  field.select();
}

/**
 * Why a key cannot be chosen; empty where it can.
 * @param {string} key
 */
function problemWith(key) {
  if (!/^([1-9a-z]|0[0-9a-z])$/.test(key)) return key === "" ? "Type a key." : "That is neither one key, nor 0 and another.";
  const use = key.length === 1 && ownUse(key);
  return use ? `${keyShown(key)} has another use (${use}). Type 0${key} for the keys ${keyShown(`0${key}`)}.` : "";
}

/**
 * @param {string} key
 * @param {string} name
 */
function consequence(key, name) {
  const other = categories().find((one) => one.key === key && one.name !== name);
  return other ? `${keyShown(key)} is the key of ${quoted(other.name)}, which gets another one.` : "";
}

/**
 * Put categories under a heading, or under none.
 * @param {Category} [first] selected from the start
 */
export function editHeading(first) {
  const now = categories();
  const headings = [...new Set(now.map(({ heading }) => heading))].filter((heading) => heading !== null);
  const field = element("input", { type: "text", id: "category-heading", value: first?.heading ?? "", maxlength: LONGEST_HEADING, list: "known-headings", autocomplete: "off", "data-testid": "heading-input" });
  const choices = now.map((category) => ({ category, box: element("input", { type: "checkbox", checked: category.name === first?.name, value: category.name }) }));
  const chosen = () => choices.filter(({ box }) => box.checked).map(({ category }) => category.name);
  /** @param {string|null} under */
  const put = (under) => {
    const names = chosen();
    dialog.close();
    void group(names, under);
  };
  const save = button("Save", () => put(field.value.trim()), { class: "primary", "data-testid": "heading-save" });
  const none = button("No heading", () => put(null), { "data-testid": "heading-none" });
  const check = () => {
    save.disabled = chosen().length === 0 || field.value.trim() === "";
    none.disabled = !choices.some(({ category, box }) => box.checked && category.heading !== null);
  };
  field.addEventListener("input", check);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || save.disabled) return;
    event.preventDefault();
    put(field.value.trim());
  });
  const items = choices.map(({ category: { name, colour, rows, heading }, box }) => {
    box.addEventListener("change", check);
    return element("li", {}, element("label", { class: "check-line" }, box, glyph(colour), element("span", {}, name),
      element("small", {}, heading === null ? counted(rows, "row") : `under ${heading}`)));
  });
  const known = fill(element("datalist", { id: "known-headings" }), ...headings.map((heading) => element("option", { value: heading })));
  const dialog = openDialog("Heading", [
    element("p", { class: "hint" }, "Categories under a heading are shown together; each keeps its key and its labels."),
    element("p", { class: "line" }, element("label", { for: "category-heading" }, "Heading"), field, known),
    element("ul", { class: "check-list" }, ...items), element("div", { class: "line ending" }, save, none),
  ], { testid: "heading-dialog" });
  check();
  field.focus();
  field.select();
}
