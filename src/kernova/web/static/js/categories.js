/** The categories so far: how many rows each has, what they look like, and renaming, merging and deleting them. */

import { allowFurtherLabels, deleteCategory, merge, rename } from "./actions.js";
import { underHeadings } from "./answers.js";
import { editHeading, editKey } from "./category_dialogs.js";
import { confirmed, openDialog } from "./dialogs.js";
import { button, byId, element, fill, keepingFocus } from "./dom.js";
import { openDownloads } from "./downloads.js";
import { glyph } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { openReview } from "./review/review.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { rowLabels, rowsAt } from "./row_labels.js";
import { categories, listen, store } from "./store.js";
import { counted, keyShown, listed, quoted, rowNoun, whole, worded } from "./words.js";

/** @typedef {import("./types.js").Category} Category */

const THUMBS = 12;
const THUMBS_MORE = 120;
// With more categories than this, only those that are looked for are shown.
const MOST_SHOWN = 200;
let shownFor = "";
let wanted = "";

/** Build the view. */
export function startCategories() {
  onShown("categories", show);
  listen(["state"], () => isSeen("categories") && show());
}

async function show() {
  const now = categories();
  const isMany = now.length > MOST_SHOWN;
  const signature = JSON.stringify([isMany && wanted, now, store.state?.has_further_labels]);
  if (signature === shownFor && byId("view-categories").childElementCount > 0) return;
  shownFor = signature;
  const shown = isMany ? found(now) : now.map((category, index) => ({ category, index }));
  const list = categoryList(shown);
  keepingFocus(byId("view-categories"), () => fill(byId("view-categories"),
    element("header", { class: "view-head" }, element("h1", { id: "categories-heading" }, "Categories"),
      element("div", { class: "line" },
        now.length > 1 && button("Headings …", () => editHeading(), { "data-testid": "headings" }),
        now.length > 1 && button("Merge …", () => void mergeSome(), { "data-testid": "merge" }),
        button("Download and import …", () => void openDownloads(), { "data-testid": "open-downloads" }))),
    element("p", { class: "lead" }, now.length ? `${counted(now.length, "category", "categories")} so far, in order of discovery. Keys stay the same; choose others as you like.` : "No categories yet."),
    furtherLabels(),
    isMany && finder(shown.length),
    list));
  await showThumbs(shown, list);
}

/**
 * The categories whose name contains what is looked for, at most as many as a page can show.
 * @param {Category[]} now
 */
function found(now) {
  const text = wanted.trim().toLowerCase();
  return now.map((category, index) => ({ category, index })).filter(({ category }) => category.name.toLowerCase().includes(text)).slice(0, MOST_SHOWN);
}

/** @param {number} number how many are shown */
function finder(number) {
  const field = element("input", { type: "search", id: "categories-find", "data-testid": "categories-find", value: wanted, on: { input: () => {
    const { value, selectionStart } = field;
    wanted = value;
    void show();
    /** @type {HTMLInputElement} */ (byId("categories-find")).setSelectionRange(selectionStart, selectionStart);
  } } });
  return element("div", { class: "line filters" }, element("label", { for: "categories-find" }, "Find"), field,
    element("small", { class: "hint" }, number === MOST_SHOWN ? `The first ${MOST_SHOWN} are shown.` : `${whole(number)} found.`));
}

/** Whether rows may have labels beside their category. */
function furtherLabels() {
  const box = element("input", { type: "checkbox", checked: Boolean(store.state?.has_further_labels), "data-testid": "further-labels", on: { change: () => void allowFurtherLabels(box.checked) } });
  return element("label", { class: "check-line" }, box, worded("A row may have further labels beside its category (key O)"));
}

/**
 * The categories, under their headings if there are any.
 * @param {{category: Category, index: number}[]} shown
 */
function categoryList(shown) {
  /** @param {Category[]} some */
  const items = (some) => element("ul", {}, some.map((category) => categoryItem(category)));
  const groups = underHeadings(shown.map(({ category }) => category));
  return element("div", { class: "category-list", "data-testid": "category-list" },
    groups.map(({ heading, members }) => [heading !== null && element("h2", { class: "category-heading" }, heading), items(members)]).flat());
}

/** @param {Category} category */
function categoryItem(category) {
  const { name, rows, asked, accepted, colour, key, heading } = category;
  /** @type {(words: string, act: () => void, testid: string, properties?: import("./dom.js").Properties) => HTMLElement} */
  const control = (words, act, testid, properties = {}) => button(words, act, { class: "small", "data-testid": testid, "aria-label": `${words.replace(" …", "")} ${name}`, ...properties });
  return element("li", { class: "category", data: { name } },
    element("div", { class: "category-head" }, key !== null && element("kbd", { title: `Key ${keyShown(key)}` }, keyShown(key)), glyph(colour), element(heading === null ? "h2" : "h3", {}, name),
      element("p", { class: "hint" }, `${counted(rows, "row")}${askedWords(rows, asked)}${accepted ? `, ${whole(accepted)} accepted` : ""}`),
      element("div", { class: "line" },
        control("Review", () => openReview({ category: name, status: "all" }), "review-category-rows"),
        control("Rename …", () => void renameOne(name), "rename"),
        control("Merge …", () => void mergeSome(name), "merge-into"),
        control("Key …", () => editKey(category), "edit-key"),
        control("Heading …", () => editHeading(category), "edit-heading"),
        control("Delete …", () => void deleteOne(name, rows), "delete", { class: "small quiet" }))),
    element("div", { class: "thumb-row" }));
}

/**
 * @param {number} rows
 * @param {number} asked
 */
function askedWords(rows, asked) {
  if (rows === 1) return "";
  return asked === rows ? ", all asked about" : `, ${whole(asked)} of them asked about`;
}

/**
 * @param {{category: Category, index: number}[]} shown
 * @param {HTMLElement} list
 */
async function showThumbs(shown, list) {
  const { labels } = await rowLabels().catch(() => ({ labels: new Uint16Array() }));
  const boxes = new Map([...list.querySelectorAll(".category")].map((item) => [item instanceof HTMLElement && item.dataset.name, item.querySelector(".thumb-row")]));
  shown.forEach(({ category: { name, rows }, index }) => {
    const box = boxes.get(name);
    if (box) fill(box, ...thumbButtons(rowsAt(labels, index, THUMBS)), rows > THUMBS && button(`all ${whole(rows)}`, () => openRows(name, rowsAt(labels, index, THUMBS_MORE), rows), { class: "small quiet" }));
  });
}

/** @param {number[]} rows */
function thumbButtons(rows) {
  return rows.map((row) => button([thumbnail(row)], () => void openRow(row), { class: "thumb-button", "aria-label": `View ${rowNoun(1)} ${row + 1}` }));
}

/**
 * @param {string} name
 * @param {number[]} rows
 * @param {number} total
 */
function openRows(name, rows, total) {
  const words = rows.length < total ? `The first ${rows.length} of ${counted(total, "row")}.` : `${counted(total, "row")}.`;
  openDialog(name, [element("p", { class: "hint" }, words), element("div", { class: "thumb-row many" }, ...thumbButtons(rows))], { isWide: true, testid: "category-rows" });
}

/** @param {string} old */
async function renameOne(old) {
  const name = await askName({ title: `Rename ${quoted(old)}`, words: worded("All its rows get the new name. To combine two categories, merge them."), value: old, but: old, action: "Rename" });
  if (name === null || name === old) return;
  const isKnown = categories().some((category) => category.name === name);
  if (isKnown) return void (await offerMerge(name, [old]));
  await rename(old, name);
}

/**
 * @param {string} into
 * @param {string[]} others
 */
async function offerMerge(into, others) {
  const isAgreed = await confirmed(`Merge into ${quoted(into)}?`, [
    `All ${rowNoun()} of ${listed(others.map(quoted))} will be labelled ${quoted(into)}. A single undo reverses this.`,
  ], "Merge");
  if (isAgreed) await merge(into, others);
}

/**
 * Choose the categories to merge, and the name to keep.
 * @param {string} [first] selected from the start
 */
function mergeSome(first) {
  const choices = categories().map((category) => ({ category, box: element("input", { type: "checkbox", checked: category.name === first, value: category.name }) }));
  const stays = element("select", { id: "merge-into", "data-testid": "merge-into-name" });
  const chosen = () => choices.filter(({ box }) => box.checked).map(({ category }) => category.name);
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
  const items = choices.map(({ category: { name, colour, rows }, box }) => {
    box.addEventListener("change", refreshChoice);
    return element("li", {}, element("label", { class: "check-line" }, box, glyph(colour), element("span", {}, name), element("small", {}, counted(rows, "row"))));
  });
  const dialog = openDialog("Merge categories", [
    element("p", { class: "hint" }, "Select the categories that are the same. A single undo reverses the merge."),
    element("ul", { class: "check-list" }, ...items),
    element("p", { class: "line" }, element("label", { for: "merge-into" }, "Name to keep"), stays),
    element("div", { class: "line ending" }, go),
  ], { testid: "merge-dialog" });
  refreshChoice();
  (choices.find(({ box }) => !box.checked)?.box ?? go).focus();
}

/**
 * @param {string} name
 * @param {number} rows
 */
async function deleteOne(name, rows) {
  const isAgreed = await confirmed(`Delete ${quoted(name)}?`, [
    `${counted(rows, "row")} will lose the label. ${worded("Rows that were asked about will count as skipped; rows labelled with a cluster, or outside a question, can be asked about again.")}`,
    "Undo restores the category.",
  ], "Delete", { isGrave: true });
  if (isAgreed) await deleteCategory(name);
}
