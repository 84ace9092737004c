/** Two to six rows side by side: pictures at the same scale, values in the same order of columns, differences marked. */

import { labelRows } from "./actions.js";
import { get, messageOf, post } from "./api.js";
import { isAddress, outsideLink, rowLink } from "./context.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { oddness, percentileWords } from "./features.js";
import { labelTag } from "./glyph.js";
import { keep, kept } from "./kept.js";
import { openAlike } from "./more_like.js";
import { askName } from "./naming.js";
import { outlineDrawing } from "./outline.js";
import { zoomedPicture } from "./picture_tools.js";
import { soundPlayer } from "./sound.js";
import { categories, categoryNamed } from "./store.js";
import { counted, worded } from "./words.js";

/** @typedef {import("./types.js").Card} Card */
/** @typedef {import("./types.js").CompareReply} CompareReply */
/** @typedef {import("./types.js").ComparedColumn} ComparedColumn */
/** @typedef {import("./page_types.js").Outline} Outline */

export const FEWEST_COMPARED = 2;
export const MOST_COMPARED = 6;

/**
 * Show rows side by side; of more than six, the first six.
 * @param {number[]} rows
 */
export async function openCompare(rows) {
  const given = [...new Set(rows)].slice(0, MOST_COMPARED);
  if (given.length < FEWEST_COMPARED) return;
  const body = element("div", { class: "compare" }, "…");
  const dialog = openDialog(`Compare ${counted(given.length, "row")}`, [body], { testid: "compare-dialog", isWide: true });
  dialog.node.classList.add("whole");
  await fillComparison(body, given, dialog);
}

/**
 * Show a row beside the nearest labelled ones: one of each category, or several of one.
 * @param {number} row
 */
export async function openExamples(row) {
  const body = element("div", { class: "compare" }, "…");
  const choice = element("select", { "aria-label": "Compare with", "data-testid": "compare-with" },
    element("option", { value: "" }, "the nearest of each category"),
    ...categories().map(({ name }) => element("option", { value: name }, `“${name}”`)));
  const dialog = openDialog(worded("Compare with labelled rows"), [element("div", { class: "line" }, element("span", {}, "Compare with"), choice), body], { testid: "compare-dialog", isWide: true });
  dialog.node.classList.add("whole");
  const show = async () => {
    try {
      const { examples } = await get("/api/rows/{row}/examples", { row, label: choice.value || null, limit: MOST_COMPARED - 1 });
      if (examples.length === 0) fill(body, element("p", {}, worded("There is no labelled row to compare it with yet.")));
      else await fillComparison(body, [row, ...examples.map((one) => one.row)], dialog);
    } catch (error) {
      dialog.say(messageOf(error));
    }
  };
  choice.addEventListener("change", () => void show());
  await show();
}

/**
 * @param {HTMLElement} body
 * @param {number[]} rows
 * @param {{close: () => void, say: (problem: string) => void}} dialog
 */
async function fillComparison(body, rows, dialog) {
  try {
    const reply = await post("/api/compare", { rows });
    const table = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Rows side by side" });
    const only = element("input", { type: "checkbox", checked: kept("only-differences") === "on", "data-testid": "only-differences" });
    const about = element("div", {});
    const show = () => {
      keep("only-differences", only.checked ? "on" : null);
      const drawn = comparison(reply, only.checked, (row) => void fillComparison(body, rows.filter((one) => one !== row), dialog));
      fill(about, drawn.words);
      fill(table, drawn.table);
    };
    only.addEventListener("change", show);
    fill(body, element("div", { class: "line" }, element("label", { class: "check-line" }, only, "Only differences"), ...actions(reply, dialog)), about, table);
    show();
  } catch (error) {
    dialog.say(messageOf(error));
  }
}

/**
 * @param {CompareReply} reply
 * @param {{close: () => void}} dialog
 */
function actions({ cards }, dialog) {
  const rows = cards.map(({ row }) => row);
  const nameAll = async () => {
    const name = await askName({ title: `Label ${counted(rows.length, "row")}`, words: "All rows compared here get this label. A single undo reverses this." });
    if (name === null) return;
    dialog.close();
    await labelRows(rows, name);
  };
  return [
    button("Label all …", () => void nameAll(), { class: "small", "data-testid": "label-compared" }),
    button("More like these", () => void openAlike(rows), { class: "small", "data-testid": "alike-compared" }),
  ];
}

/**
 * @param {CompareReply} reply
 * @param {boolean} isShort whether columns in which the rows agree are left out
 * @param {(row: number) => void} leave
 */
function comparison({ cards, columns, n_columns: number, context }, isShort, leave) {
  const shown = columns.filter((column) => !isShort || column.is_different);
  const around = context.filter((column) => !isShort || column.is_different);
  const media = cards.some((card) => card.media.kind !== "none") && element("tr", {}, element("th", { scope: "row" }, "Media"), ...withSameScale(cards));
  const rest = number - columns.length;
  const words = element("p", { class: "hint" }, `Values that differ by half of all rows or more, and other categories, are marked ≠.${rest > 0 ? ` Of ${number} features, the ${columns.length} in which the rows differ most are shown.` : ""}`);
  const head = element("tr", {}, element("td", {}), ...cards.map((card) => cardHead(card, cards.length > FEWEST_COMPARED ? leave : null)));
  const table = element("table", { class: "comparison", "data-testid": "comparison" },
    element("thead", {}, head),
    element("tbody", {}, media, ...shown.map(featureLine), ...around.map((column) => element("tr", { class: column.is_different ? "different" : "same" },
      columnHead(column.name, column.is_different), ...column.texts.map((text) => element("td", {}, contextCell(text)))))));
  return { words, table };
}

/** @param {string} text */
function contextCell(text) {
  return isAddress(text) ? outsideLink(text, text) : text || element("span", { class: "hint" }, "missing");
}

/**
 * @param {Card} card
 * @param {((row: number) => void)|null} leave
 */
function cardHead({ row, id, label, link }, leave) {
  return element("th", { scope: "col" },
    element("div", { class: "compared-head" }, element("b", {}, id), leave && button("×", () => leave(row), { class: "quiet icon-only small", "aria-label": `Leave out ${id}`, title: "Leave out" })),
    element("div", {}, label === null ? element("span", { class: "hint" }, "unlabelled") : labelTag(categoryNamed(label), label)),
    link && element("div", {}, rowLink(link)));
}

/**
 * @param {string} name
 * @param {boolean} isDifferent
 */
function columnHead(name, isDifferent) {
  return element("th", { scope: "row" }, name, isDifferent && element("span", { class: "mark", title: "differs" }, " ≠", element("span", { class: "unseen" }, " differs")));
}

/** @param {ComparedColumn} column */
function featureLine({ name, is_different: isDifferent, features }) {
  return element("tr", { class: isDifferent ? "different" : "same" }, columnHead(name, isDifferent), ...features.map((feature) => {
    const at = feature.kind === "number" ? feature.position : feature.own_share;
    const track = element("span", { class: "track", "aria-hidden": "true" });
    if (at !== null) {
      const dot = element("i", { class: oddness(feature) });
      dot.style.left = `${at * 100}%`;
      track.append(dot);
    }
    return element("td", { title: percentileWords(feature) }, element("span", { class: "value" }, feature.value), track);
  }));
}

/**
 * Media of each row; pictures have as many points of the screen for each of their own as the largest one.
 * @param {Card[]} cards
 */
function withSameScale(cards) {
  /** @type {HTMLImageElement[]} */
  const images = [];
  const settle = () => {
    const widest = Math.max(...images.map((image) => Math.max(image.naturalWidth, image.naturalHeight)));
    for (const image of images) if (image.naturalWidth) image.style.width = `${(100 * image.naturalWidth) / widest}%`;
  };
  return cards.map(({ id, media }) => {
    const cell = element("td", {});
    if (media.picture) {
      const { frame, image } = zoomedPicture(media.picture, `Picture of ${id}`);
      images.push(image);
      image.addEventListener("load", settle);
      image.addEventListener("error", () => frame.classList.add("missing"));
      cell.append(frame);
    } else if (media.sound) cell.append(soundPlayer(media.files[0], id));
    else if (media.outline) cell.append(outlineDrawing(/** @type {Outline} */ (media.outline), { words: `Landmarks of ${id} over the mean shape` }));
    return cell;
  });
}
