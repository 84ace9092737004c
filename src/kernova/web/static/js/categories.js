/** The categories met so far: how many rows each has, what they look like, and how to put them in order. */

import { deleteCategory, merge, rename } from "./actions.js";
import { confirmed, openDialog } from "./dialogs.js";
import { button, byId, element, fill, keepingFocus } from "./dom.js";
import { glyph } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { rowLabels, rowsAt } from "./row_labels.js";
import { categories, listen } from "./store.js";
import { counted, quoted, whole } from "./words.js";

const THUMBS = 12;
const THUMBS_MORE = 120;
let shownFor = "";

/** Build the view. */
export function startCategories() {
  onShown("categories", show);
  listen("state", () => isSeen("categories") && show());
}

async function show() {
  const now = categories();
  const list = element("ul", { class: "category-list", "data-testid": "category-list" }, ...now.map(categoryItem));
  const signature = JSON.stringify(now);
  if (signature === shownFor && byId("view-categories").childElementCount > 0) return;
  shownFor = signature;
  keepingFocus(byId("view-categories"), () => fill(byId("view-categories"),
    element("header", { class: "view-head" }, element("h1", { id: "categories-heading" }, "Categories"),
      now.length > 1 && button("Merge …", () => void mergeSome(), { "data-testid": "merge" })),
    element("p", { class: "lead" }, now.length ? `${counted(now.length, "category", "categories")} so far, in the order in which you met them.` : "No category has been named yet."),
    list));
  await showThumbs(now, list);
}

function categoryItem({ name, rows, asked, colour }, place) {
  const key = place < 9 && element("kbd", { title: `Key ${place + 1}` }, String(place + 1));
  const control = (words, act, testid, properties = {}) => button(words, act, { class: "small", "data-testid": testid, "aria-label": `${words.replace(" …", "")} ${name}`, ...properties });
  return element("li", { class: "category", data: { name } },
    element("div", { class: "category-head" }, key, glyph(colour), element("h2", {}, name),
      element("p", { class: "hint" }, `${counted(rows, "row")}${askedWords(rows, asked)}`),
      element("div", { class: "line" },
        control("Rename …", () => void renameOne(name), "rename"),
        control("Merge …", () => void mergeSome(name), "merge-into"),
        control("Delete …", () => void deleteOne(name, rows), "delete", { class: "small quiet" }))),
    element("div", { class: "thumb-row" }));
}

function askedWords(rows, asked) {
  if (asked === undefined || rows === 1) return "";
  return asked === rows ? ", all asked" : `, ${whole(asked)} of them asked`;
}

async function showThumbs(now, list) {
  const { labels } = await rowLabels().catch(() => ({ labels: new Uint16Array() }));
  now.forEach(({ name, rows }, place) => {
    const box = list.children[place]?.querySelector(".thumb-row");
    if (box) fill(box, ...thumbButtons(rowsAt(labels, place, THUMBS)), rows > THUMBS && button(`all ${rows}`, () => openRows(name, rowsAt(labels, place, THUMBS_MORE), rows), { class: "small quiet" }));
  });
}

function thumbButtons(rows) {
  return rows.map((row) => button([thumbnail(row)], () => void openRow(row), { class: "thumb-button", "aria-label": `Look at row ${row + 1}` }));
}

function openRows(name, rows, total) {
  const words = rows.length < total ? `The first ${rows.length} of ${total} rows.` : `${counted(total, "row")}.`;
  openDialog(name, [element("p", { class: "hint" }, words), element("div", { class: "thumb-row many" }, ...thumbButtons(rows))], { isWide: true, testid: "category-rows" });
}

async function renameOne(old) {
  const name = await askName({ title: `Rename ${quoted(old)}`, words: "Its rows keep together under the new name. To put two categories together, merge them.", value: old, but: old, action: "Rename" });
  if (name === null || name === old) return;
  const isKnown = categories().some((category) => category.name === name);
  if (isKnown) return void (await offerMerge(name, [old]));
  await rename(old, name);
}

async function offerMerge(into, others) {
  const isAgreed = await confirmed(`Merge into ${quoted(into)}?`, [
    `${others.map(quoted).join(" and ")} will be part of ${quoted(into)}: all their rows get that name. One undo takes it back.`,
  ], "Merge");
  if (isAgreed) await merge(into, others);
}

/** Choose the categories that become one, and which name stays. */
function mergeSome(first) {
  const names = categories().map(({ name }) => name);
  const boxes = new Map(names.map((name) => [name, element("input", { type: "checkbox", checked: name === first, value: name })]));
  const stays = element("select", { id: "merge-into", "data-testid": "merge-into-name" });
  const chosen = () => names.filter((name) => boxes.get(name).checked);
  const go = button("Merge", async () => {
    const into = stays.value;
    const others = chosen().filter((name) => name !== into);
    dialog.close();
    await merge(into, others);
  }, { class: "primary", "data-testid": "merge-go" });
  const refreshChoice = () => {
    const before = stays.value || first;
    fill(stays, ...chosen().map((name) => element("option", { value: name, selected: name === before }, name)));
    go.disabled = chosen().length < 2;
  };
  const items = categories().map(({ name, colour, rows }) => {
    boxes.get(name).addEventListener("change", refreshChoice);
    return element("li", {}, element("label", { class: "check-line" }, boxes.get(name), glyph(colour), element("span", {}, name), element("small", {}, counted(rows, "row"))));
  });
  const dialog = openDialog("Merge categories", [
    element("p", { class: "hint" }, "Tick those that are one and the same. One undo takes it back."),
    element("ul", { class: "check-list" }, ...items),
    element("p", { class: "line" }, element("label", { for: "merge-into" }, "The name that stays"), stays),
    element("div", { class: "line ending" }, go),
  ], { testid: "merge-dialog" });
  refreshChoice();
  (names.map((name) => boxes.get(name)).find((box) => !box.checked) ?? go).focus();
}

async function deleteOne(name, rows) {
  const isAgreed = await confirmed(`Delete ${quoted(name)}?`, [
    `${counted(rows, "row")} will have no name. Rows that were asked count as skipped; those named with others, or out of turn, are open again and may be asked.`,
    "Undo brings the category back.",
  ], "Delete", { isGrave: true });
  if (isAgreed) await deleteCategory(name);
}
