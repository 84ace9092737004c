/** Import of labels: a file is chosen, what it holds is shown, and then it is imported in one step. */

import { importLabels } from "./actions.js";
import { messageOf, post } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill, say } from "./dom.js";
import { store } from "./store.js";
import { counted, listed, quoted, whole, worded } from "./words.js";

/** @typedef {import("./types.js").ImportPreview} ImportPreview */
/** @typedef {"keep"|"take"|"opinion"} OnConflict */

const LARGEST_BYTES = 16_000_000;
const ENDINGS = ".csv,.tsv,.txt,.gz,.parquet,.arrow,.json,.tps";
/** @type {[OnConflict, string, string][]} */
const TREATMENTS = [
  ["keep", "Keep my labels", "Only rows without a label get one."],
  ["take", "Take theirs", "Their labels replace mine."],
  ["opinion", "Record them as another expert's opinion", "They are listed as disagreements; the latest label counts until one is settled."],
];

/** Ask for a file of labels. */
export function openImport() {
  const shown = element("div", { class: "import-preview", role: "status", "data-testid": "import-preview" });
  const field = element("input", { type: "file", id: "import-file", accept: ENDINGS, "data-testid": "import-file" });
  const dialog = openDialog("Import labels", [
    element("p", { class: "hint" }, "A table with ids and categories (CSV, TSV, Parquet), Label Studio or COCO (JSON), or a Raven table or TPS file that was downloaded here."),
    element("p", { class: "file-field" }, element("label", { for: "import-file" }, "File with labels"), field),
    shown,
  ], { testid: "import-dialog", isWide: true });

  /** @param {{id_column?: string, category_column?: string}} [columns] */
  const preview = async (columns = {}) => {
    const file = field.files?.[0];
    dialog.say("");
    if (!file) return void fill(shown);
    if (file.size > LARGEST_BYTES) {
      fill(shown);
      return dialog.say(`${file.name} has ${whole(Math.round(file.size / 1e6))} MB; the limit is ${whole(LARGEST_BYTES / 1e6)} MB. Leave out columns that are no labels, or save it as Parquet.`);
    }
    fill(shown, element("p", { class: "hint" }, `Reading ${file.name} …`));
    try {
      const found = await post("/api/imports/preview", { name: file.name, content: await base64(file), ...columns });
      fill(shown, ...previewParts(found, dialog.close, preview));
    } catch (error) {
      fill(shown);
      dialog.say(messageOf(error));
    }
  };
  field.addEventListener("change", () => void preview());
  field.focus();
}

/**
 * The content of a file in base64.
 * @param {File} file
 * @returns {Promise<string>}
 */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,?/, "")));
    reader.addEventListener("error", () => reject(new Error(`${file.name} cannot be read by the browser. Choose it again.`)));
    reader.readAsDataURL(file);
  });
}

/**
 * What a file holds, and the choices that remain.
 * @param {ImportPreview} found
 * @param {() => void} close
 * @param {(columns: {id_column?: string, category_column?: string}) => Promise<void>} again
 */
function previewParts(found, close, again) {
  /** @type {OnConflict} */
  let onConflict = "keep";
  const whose = element("input", { type: "text", id: "import-expert", maxlength: "100", autocomplete: "off", "data-testid": "import-expert", placeholder: store.expert });
  const action = element("span", {}, actionWords(found, onConflict));
  const act = button([action], async () => {
    act.disabled = true;
    const reply = await importLabels(found.upload, found.name, onConflict, whose.value.trim() || null);
    if (reply) close();
    else act.disabled = false;
  }, { class: "primary", "data-testid": "import-act" });
  act.disabled = !changesSomething(found, onConflict);
  const choose = (/** @type {OnConflict} */ value) => {
    onConflict = value;
    say(action, actionWords(found, onConflict));
    act.disabled = !changesSomething(found, onConflict);
  };
  return [
    found.columns.length > 0 && columnChoice(found, again),
    element("ul", { class: "import-facts", "data-testid": "import-facts" }, ...facts(found).map((words) => element("li", {}, words))),
    found.n_conflicts > 0 && conflictTable(found),
    found.n_conflicts + found.same > 0 && treatmentChoice(choose),
    element("p", { class: "file-field" }, element("label", { for: "import-expert" }, found.experts.length > 0 ? "Expert for lines that name none" : "Whose labels are these?"), whose,
      element("small", { class: "hint" }, "Empty: yours.")),
    element("div", { class: "line ending" }, act, button("Cancel", close)),
  ];
}

/** @param {ImportPreview} found */
function facts(found) {
  const news = found.categories.filter((one) => one.is_new).map((one) => quoted(one.name));
  return [
    `${counted(found.labelled, "row")} of this project ${found.labelled === 1 ? "has a label" : "have labels"} in the file: ${whole(found.new_labels)} without one here, ${whole(found.same)} with the same, ${whole(found.n_conflicts)} with another.`,
    found.n_unknown > 0 && `${counted(found.n_unknown, "id")} not in this project: ${listed(found.unknown)}.`,
    news.length > 0 && `${counted(found.n_new_categories, "new category", "new categories")}: ${listed(news, 8)}.`,
    found.experts.length > 0 && `Experts in the file: ${listed(found.experts, 8)}.`,
    ...found.notes,
  ].filter((words) => typeof words === "string");
}

/**
 * @param {ImportPreview} found
 * @param {(columns: {id_column?: string, category_column?: string}) => Promise<void>} again
 */
function columnChoice(found, again) {
  /** @type {(id: string, words: string, chosen: string|null) => [HTMLElement, HTMLSelectElement]} */
  const field = (id, words, chosen) => {
    const select = element("select", { id, "data-testid": id, on: { change: () => void again({ id_column: ids.value, category_column: categories.value || undefined }) } },
      chosen === null && element("option", { value: "" }, "choose a column"),
      ...found.columns.map((name) => element("option", { value: name, selected: name === chosen }, name)));
    return [element("p", { class: "file-field" }, element("label", { for: id }, words), select), select];
  };
  const [idLine, ids] = field("import-ids", "Column of ids", found.id_column);
  const [categoryLine, categories] = field("import-categories", "Column of categories", found.category_column);
  return element("div", { class: "line" }, idLine, categoryLine);
}

/** @param {ImportPreview} found */
function conflictTable({ conflicts, n_conflicts: number }) {
  const caption = conflicts.length < number ? worded(`The first ${whole(conflicts.length)} of ${whole(number)} rows with another label`) : worded("Rows with another label");
  return element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
    element("table", { "data-testid": "import-conflicts" }, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...["row", "here", "in the file"].map((name) => element("th", { scope: "col" }, worded(name))))),
      element("tbody", {}, ...conflicts.map((one) => element("tr", {}, element("th", { scope: "row" }, one.id), element("td", {}, one.mine), element("td", {}, one.theirs))))));
}

/** @param {(value: OnConflict) => void} choose */
function treatmentChoice(choose) {
  return element("fieldset", { class: "treatments" }, element("legend", {}, "Rows that have a label already"),
    ...TREATMENTS.map(([value, words, hint]) => element("label", { class: "check-line" },
      element("input", { type: "radio", name: "on-conflict", value, checked: value === "keep", "data-testid": `conflict-${value}`, on: { change: () => choose(value) } }),
      element("span", {}, words, element("small", { class: "hint" }, ` ${hint}`)))));
}

/**
 * @param {ImportPreview} found
 * @param {OnConflict} onConflict
 */
function changesSomething(found, onConflict) {
  const isLabelling = found.new_labels > 0 || (onConflict !== "keep" && found.labelled > 0);
  return isLabelling || found.notes.length > 0;
}

/**
 * @param {ImportPreview} found
 * @param {OnConflict} onConflict
 */
function actionWords(found, onConflict) {
  const number = onConflict === "keep" ? found.new_labels : found.labelled;
  return number > 0 ? `Import ${counted(number, "label")}` : "Import the remarks";
}
