/** What is noted beside a row's label: its note, flag, further labels, and how sure the expert was. */

import { flagRow, noteRow, tagRow } from "./actions.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { labelTag } from "./glyph.js";
import { askName } from "./naming.js";
import { categoryNamed, store, update } from "./store.js";

/** @typedef {import("./types.js").Card} Card */

const LONGEST_NOTE = 10_000;

/**
 * What is noted about a row, to be shown with it; empty where there is nothing.
 * @param {Card} card
 * @param {() => void} onChange called after a label was removed
 */
export function remarksOf(card, onChange = () => {}) {
  const { note, is_flagged: isFlagged, also, status, confidence } = card;
  return [
    isFlagged && element("span", { class: "remark flagged", "data-testid": "remark-flag" }, "⚑ flagged"),
    status === "accepted" && element("span", { class: "remark", "data-testid": "remark-accepted" }, "accepted suggestion"),
    confidence !== null && element("span", { class: "remark", "data-testid": "remark-confidence" }, `${confidence} confidence`),
    ...also.map((label) => element("span", { class: "remark", "data-testid": "remark-also" }, "also ", labelTag(categoryNamed(label), label),
      button("×", () => void removeTag(card, label).then(onChange), { class: "quiet small", "aria-label": `Remove the further label ${label}`, title: "Remove" }))),
    note !== null && element("span", { class: "remark note", "data-testid": "remark-note" }, note),
  ];
}

/** @param {Card} card */
export async function toggleFlag(card) {
  const isOn = !card.is_flagged;
  if (await flagRow(card, isOn)) changed(card, { is_flagged: isOn });
}

/**
 * Ask for a note on a row.
 * @param {Card} card
 * @returns {Promise<void>} once the dialog is closed
 */
export function editNote(card) {
  return new Promise((resolve) => {
    const field = element("textarea", { id: "note-text", rows: 4, maxlength: LONGEST_NOTE, "data-testid": "note-text" }, card.note);
    /** @type {Promise<void>|undefined} */
    let saving;
    /** @param {string|null} text */
    const save = (text) => {
      saving = saveNote(card, text?.trim() || null);
      dialog.close();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      save(field.value);
    });
    const dialog = openDialog(`Note on ${card.id}`, [
      element("label", { class: "unseen", for: "note-text" }, "Note"), field,
      element("div", { class: "line ending" }, button("Save", () => save(field.value), { class: "primary", "data-testid": "note-save" }),
        card.note !== null && button("Remove the note", () => save(null), { "data-testid": "note-remove" }),
        element("small", { class: "hint" }, "Enter to save, Shift+Enter for a new line, Esc to cancel")),
    ], { testid: "note-dialog", onClose: () => resolve(saving) });
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });
}

/**
 * @param {Card} card
 * @param {string|null} note
 */
async function saveNote(card, note) {
  if (note !== card.note && (await noteRow(card, note))) changed(card, { note });
}

/**
 * Ask for a further label of a row.
 * @param {Card} card
 */
export async function addTag(card) {
  const name = await askName({ title: `A further label for ${card.id}`, words: "It is kept beside the category, and does not change the questions.", but: card.label ?? "", action: "Add" });
  if (name === null || card.also.includes(name)) return;
  if (await tagRow(card, name, true)) changed(card, { also: [...card.also, name] });
}

/**
 * @param {Card} card
 * @param {string} label
 */
async function removeTag(card, label) {
  if (await tagRow(card, label, false)) changed(card, { also: card.also.filter((one) => one !== label) });
}

/**
 * The card is shown with what was saved; the question that shows it, too.
 * @param {Card} card
 * @param {Partial<Card>} changes
 */
function changed(card, changes) {
  Object.assign(card, changes);
  const { question } = store;
  if (question?.row !== card.row) return;
  Object.assign(question.card, changes);
  update({ question });
}

/**
 * A choice of how sure the expert is, for dialogs that ask for a label.
 * @returns {{node: HTMLElement, value: () => import("./types.js").Card["confidence"]}}
 */
export function confidenceChoice() {
  const choice = element("select", { id: "given-confidence", "data-testid": "given-confidence" },
    ...["", "low", "medium", "high"].map((one) => element("option", { value: one }, one || "not stated")));
  const value = () => (choice.value === "low" || choice.value === "medium" || choice.value === "high" ? choice.value : null);
  return { node: element("p", { class: "line" }, element("label", { for: choice.id }, "Confidence"), choice), value };
}

/**
 * Fill a line with what is noted about a row.
 * @param {HTMLElement} line
 * @param {Card} card
 * @param {() => void} [onChange]
 */
export function showRemarks(line, card, onChange) {
  fill(line, ...remarksOf(card, onChange));
  line.hidden = line.childElementCount === 0;
  return line;
}
