/** The dialog that asks for a category's name; where it is nearly an existing one, it asks which is meant. */

import { nameField } from "./combobox.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { nearNames } from "./names.js";
import { categories } from "./store.js";
import { quoted } from "./words.js";

const MOST_MEANT = 4;

/**
 * Ask for a name.
 * @param {{title: string, words?: string, action?: string, value?: string, but?: string, extra?: Node[]}} options
 *   `but` is a name that is not suggested, since it is the one to be changed
 * @returns {Promise<string|null>} null if the expert cancelled
 */
export function askName({ title, words = "", action = "Save", value = "", but = "", extra = [] }) {
  return new Promise((resolve) => {
    /** @type {string|null} */
    let given = null;
    const known = () => categories().filter(({ name }) => name !== but);
    /** @param {string} name */
    const end = (name) => {
      given = name;
      dialog.close();
    };
    /** @type {(name: string, isPicked: boolean) => void} */
    const consider = (name, isPicked) => {
      const meant = isPicked ? [] : nearNames(name, known().map((one) => one.name)).slice(0, MOST_MEANT);
      if (meant.length === 0) end(name);
      else ask(name, meant);
    };
    /** @type {(name: string, meant: string[]) => void} */
    const ask = (name, meant) => {
      const choices = meant.map((one, index) =>
        button(`Yes, ${quoted(one)}`, () => end(one), { class: index === 0 ? "primary" : null, "data-testid": `meant-${index}` }));
      const isNew = button(`No, ${quoted(name)} is a new category`, () => end(name), { "data-testid": "meant-none" });
      fill(doubt, element("p", { id: "doubt-words" }, doubtWords(name, meant)), element("div", { class: "line" }, ...choices, isNew));
      doubt.hidden = false;
      save.hidden = true;
      choices[0].focus();
    };
    const field = nameField({ label: "Category name", categories: known, onChoose: consider, value });
    const doubt = element("div", { class: "doubt", role: "alertdialog", "aria-labelledby": "doubt-words", "data-testid": "did-you-mean", hidden: true });
    const save = button(action, () => void (field.value() && consider(field.value(), false)), { class: "primary", "data-testid": "name-save" });
    field.input.addEventListener("input", () => {
      doubt.hidden = true;
      save.hidden = false;
    });
    const dialog = openDialog(title, [
      words ? element("p", { class: "hint" }, words) : null, ...extra, field.node, doubt,
      element("div", { class: "line ending" }, save, element("small", { class: "hint" }, "Enter to save, ↓ to choose, Esc to cancel")),
    ], { testid: "naming", onClose: () => resolve(given) });
    field.input.focus();
    field.input.select();
  });
}

/**
 * @param {string} name
 * @param {string[]} meant
 */
function doubtWords(name, meant) {
  if (meant.length === 1) return `Did you mean ${quoted(meant[0])}? ${quoted(name)} is almost the same.`;
  return `Did you mean one of these? ${quoted(name)} is almost the same.`;
}
