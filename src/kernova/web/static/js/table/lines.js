/** A line of the table of all rows, as it is in the page. */

import { isAddress, outsideLink } from "../context.js";
import { button, element } from "../dom.js";
import { labelTag } from "../glyph.js";
import { mediaKind } from "../media.js";
import { categoryNamed } from "../store.js";

/** @typedef {import("../types.js").TableLine} TableLine */
/** @typedef {import("../types.js").TableColumn} TableColumn */

/**
 * Draw the line at a place of the order; a line that has not been read yet is empty.
 * @param {number} index
 * @param {TableLine|undefined} line
 * @param {TableColumn[]} columns
 * @param {{isChosen: boolean, isActive: boolean}} state
 */
export function lineNode(index, line, columns, { isChosen, isActive }) {
  const node = element("div", { role: "row", id: `table-row-${index}`, class: isActive ? "table-line active" : "table-line", "aria-rowindex": String(index + 2), "aria-selected": String(isChosen), data: { index: String(index) } });
  if (!line) {
    node.append(element("div", { role: "gridcell" }, "…"));
    return node;
  }
  let value = 0;
  const tick = element("div", { role: "gridcell", class: "table-tick" }, element("span", { "aria-hidden": "true" }, isChosen ? "☑" : "☐"));
  const cells = columns.map((column) => cellNode(column, line, column.kind === "context" || column.kind === "feature" ? line.values[value++] : ""));
  node.append(tick, ...cells);
  return node;
}

/**
 * @param {TableColumn} column
 * @param {TableLine} line
 * @param {string} value
 */
function cellNode({ kind, is_number: isNumber, name }, line, value) {
  const cell = element("div", { role: "gridcell", class: `cell-${kind}${isNumber ? " number" : ""}` });
  if (kind === "id") {
    if (mediaKind() === "picture" || mediaKind() === "sound") cell.append(element("span", { class: "table-thumb", data: { row: String(line.row) } }));
    cell.append(element("span", { class: "table-id", title: line.id }, line.id));
    if (line.link) cell.append(withoutTab(outsideLink(line.link, "")));
  } else if (kind === "label") {
    if (line.label !== null) cell.append(labelTag(categoryNamed(line.label), line.label));
  } else if (kind === "status") cell.append(line.status);
  else if (isAddress(value)) cell.append(withoutTab(outsideLink(value, value)));
  else cell.append(value);
  if (kind === "context") cell.title = `${name}: ${value}`;
  return cell;
}

/**
 * A link inside a line is reached by pointer; by keyboard, the row's own dialog has it.
 * @param {HTMLElement} link
 */
function withoutTab(link) {
  link.tabIndex = -1;
  if (!link.textContent?.replace("↗", "").trim()) link.setAttribute("aria-label", "Open at its own page");
  return link;
}

/**
 * The heading of a column, which sorts by it.
 * @param {TableColumn} column
 * @param {import("./rows.js").Query} query
 * @param {(key: string) => void} sortBy
 */
export function headNode({ key, name, is_number: isNumber }, { sort, descending }, sortBy) {
  const sorted = sort === key ? (descending === "yes" ? "descending" : "ascending") : null;
  const sign = sorted === "ascending" ? " ▲" : sorted === "descending" ? " ▼" : "";
  return element("div", { role: "columnheader", class: isNumber ? "number" : null, "aria-sort": sorted },
    button([element("span", {}, name), sign && element("span", { "aria-hidden": "true" }, sign)], () => sortBy(key), { class: "quiet", title: `Sort by ${name}`, "data-testid": `sort-${key}` }));
}

/**
 * The place in the order of the line that something is in; -1 outside all lines.
 * @param {EventTarget|null} target
 */
export function indexOf(target) {
  const node = target instanceof Element ? target.closest("[data-index]") : null;
  return node instanceof HTMLElement ? Number(node.dataset.index) : -1;
}
