/** Which columns the table shows: those that the server proposes, or those chosen for this project. */

import { openDialog } from "../dialogs.js";
import { button, element } from "../dom.js";
import { keep, kept } from "../kept.js";
import { store } from "../store.js";

/** @typedef {import("../types.js").TableColumn} TableColumn */
/** @typedef {import("../types.js").TableReply} TableReply */

const MOST_CHOICES = 400;
const WIDTHS = { id: "13rem", label: "10rem", status: "7rem", context: "12rem", feature: "7.500rem" };

function place() {
  return `columns ${store.session?.project ?? ""}`;
}

/**
 * The columns to show at first.
 * @param {TableReply} table
 */
export function firstColumns({ columns, shown }) {
  const names = (kept(place()) ?? "").split("\n").filter(Boolean);
  const chosen = columns.filter(({ kind, name }) => names.includes(`${kind} ${name}`));
  return withId(columns, chosen.length > 0 ? chosen.map(({ key }) => key) : shown);
}

/**
 * Their widths, as the grid of a line has them.
 * @param {TableColumn[]} columns
 */
export function columnWidths(columns) {
  return ["2.200rem", ...columns.map(({ kind }) => WIDTHS[kind])].join(" ");
}

/**
 * Columns that a filter can look in.
 * @param {TableReply} table
 */
export function columnOptions({ columns }) {
  return columns.slice(0, MOST_CHOICES).map(({ key, name }) => element("option", { value: key }, name));
}

/**
 * Let columns be chosen.
 * @param {TableReply} table
 * @param {TableColumn[]} now
 * @param {(columns: TableColumn[]) => void} onChoose
 */
export function openColumns({ columns: all, shown }, now, onChoose) {
  const boxes = all.filter(({ kind }) => kind !== "id").slice(0, MOST_CHOICES).map(({ key, kind, name }) => {
    const box = element("input", { type: "checkbox", value: key, checked: now.some((column) => column.key === key) });
    return { box, node: element("label", { class: "check-line" }, box, name, element("small", {}, kind)) };
  });
  /** @param {string[]} keys */
  const choose = (keys) => {
    const columns = withId(all, keys);
    keep(place(), keys === shown ? null : columns.map(({ kind, name }) => `${kind} ${name}`).join("\n"));
    dialog.close();
    onChoose(columns);
  };
  const dialog = openDialog("Columns", [
    element("div", { class: "check-list" }, ...boxes.map(({ node }) => node)),
    element("div", { class: "line ending" },
      button("Show these", () => choose(boxes.filter(({ box }) => box.checked).map(({ box }) => box.value)), { class: "primary", "data-testid": "columns-show" }),
      button("As at first", () => choose(shown))),
  ], { testid: "columns-dialog" });
}

/**
 * @param {TableColumn[]} all
 * @param {string[]} keys
 */
function withId(all, keys) {
  return all.filter(({ key, kind }) => kind === "id" || keys.includes(key));
}
