/** The table of all rows: sorted, filtered, selected, labelled and compared. Only what is in view is in the page. */

import { get, messageOf } from "../api.js";
import { button, byId, element, fill, say } from "../dom.js";
import { mediaKind, thumbnail } from "../media.js";
import { isSeen, onShown } from "../router.js";
import { openRow } from "../row_dialog.js";
import { listen, store } from "../store.js";
import { counted, whole } from "../words.js";
import { columnOptions, columnWidths, firstColumns, openColumns } from "./columns.js";
import { headNode, indexOf, lineNode } from "./lines.js";
import { PAGE, asked, forgetRows, isKnown, lineAt, readAt, rowOrder } from "./rows.js";
import { selectionTools } from "./tools.js";

const ROW_REM = 2.4;
/** Browsers limit the height of an element; beyond, the bar moves in larger steps. */
const TALLEST_PX = 8e6;
const REST_MS = 140;
const TYPING_MS = 250;

/** @type {ReturnType<typeof build>|null} */
let built = null;
/** @type {import("../types.js").TableReply|null} */
let table = null;
let seen = "";
/** Selected rows, by their index in the table. @type {Set<number>} */
const selected = new Set();
let active = 0;
let anchor = 0;
let frame = 0;
let resting = 0;
let typing = 0;

/** Build the view. */
export function startTable() {
  onShown("table", () => void catchUp());
  listen(["state"], () => isSeen("table") && void catchUp());
}

async function catchUp() {
  const view = (built ??= build());
  if (!table) {
    try {
      table = await get("/api/table");
    } catch (error) {
      say(view.words, messageOf(error));
      setTimeout(() => isSeen("table") && void catchUp(), 3000);
      return;
    }
    fill(view.within, element("option", { value: "" }, "all texts"), ...columnOptions(table));
    fill(view.status, element("option", { value: "" }, "every status"), ...table.statuses.map((name) => element("option", { value: name }, name)));
    showColumns(firstColumns(table));
  }
  const version = `${store.state?.version}`;
  if (version === seen) return draw();
  seen = version;
  forget();
}

function build() {
  const search = element("input", { type: "search", class: "small", "aria-label": "Find rows", placeholder: "Find …", "data-testid": "table-find" });
  const within = element("select", { class: "small", "aria-label": "Look in", "data-testid": "table-within" });
  const status = element("select", { class: "small", "aria-label": "Status", "data-testid": "table-status" });
  const words = element("p", { class: "hint", role: "status", "data-testid": "table-words" });
  const head = element("div", { role: "row", class: "table-head" });
  const body = element("div", { role: "rowgroup", class: "table-body" });
  const grid = element("div", { class: "table-grid", role: "grid", tabindex: "0", "aria-label": "All rows", "aria-multiselectable": "true", "aria-describedby": "table-hint", "data-testid": "table-grid" },
    element("div", { role: "rowgroup", class: "table-top" }, head), body);
  const tools = element("div", { class: "line table-tools", role: "group", "aria-label": "Selected rows" });
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => ask({ find: search.value }), TYPING_MS);
  });
  within.addEventListener("change", () => ask({ find: search.value, within: within.value }));
  status.addEventListener("change", () => ask({ status: status.value }));
  grid.addEventListener("scroll", draw, { passive: true });
  grid.addEventListener("keydown", (event) => void press(event));
  body.addEventListener("click", (event) => void point(event));
  body.addEventListener("dblclick", (event) => {
    const line = lineAt(indexOf(event.target));
    if (line) void openRow(line.row);
  });
  new ResizeObserver(draw).observe(grid);
  fill(byId("view-table"),
    element("header", { class: "view-head" }, element("h1", { id: "table-heading" }, "Table"), search, within, status,
      button("Columns …", () => table && openColumns(table, asked.columns, chooseColumns), { class: "small", "data-testid": "table-columns" })),
    words, tools, grid,
    element("p", { class: "hint", id: "table-hint" }, "Arrow keys move, Space selects, Shift extends, Ctrl+A selects all, Enter opens the row. Of a column of numbers, find > 3, 1..5 or missing."));
  return { search, within, status, words, head, body, grid, tools };
}

/** The parts of the view, which is built when it is first shown. */
function view() {
  built ??= build();
  return built;
}

/** @param {Partial<import("./rows.js").Query>} changes */
function ask(changes) {
  Object.assign(asked.query, changes);
  active = 0;
  anchor = 0;
  view().grid.scrollTop = 0;
  showHead();
  forget();
}

/** Read everything again: the order, or labels, may have changed. */
function forget() {
  forgetRows();
  void readAt(active, showWords).then(draw);
}

// --- drawing -------------------------------------------------------------------------------------

function draw() {
  if (!frame) frame = requestAnimationFrame(paint);
}

function rowHeight() {
  return ROW_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** Where the lines are: how tall all of them, and which is the first in view. */
function extent() {
  const { grid, head } = view();
  const high = rowHeight();
  const room = Math.max(high, grid.clientHeight - head.offsetHeight);
  const full = asked.total * high;
  const tall = Math.min(full, TALLEST_PX);
  const ratio = tall > room ? (full - room) / (tall - room) : 1;
  return { high, room, tall, first: (grid.scrollTop * ratio) / high, ratio };
}

function paint() {
  frame = 0;
  if (!built || !table || !isSeen("table")) return;
  const { grid, body } = built;
  const { high, room, tall, first } = extent();
  body.style.height = `${tall}px`;
  grid.setAttribute("aria-rowcount", String(asked.total + 1));
  const from = Math.max(0, Math.floor(first) - 4);
  const to = Math.min(asked.total, Math.ceil(first + room / high) + 4);
  /** @type {HTMLElement[]} */
  const lines = [];
  for (let index = from; index < to; index += 1) {
    const found = lineAt(index);
    const line = lineNode(index, found, asked.columns, { isChosen: found !== undefined && selected.has(found.row), isActive: index === active });
    line.style.top = `${grid.scrollTop + (index - first) * high}px`;
    line.style.height = `${high}px`;
    lines.push(line);
  }
  fill(body, ...lines);
  if (document.activeElement === grid || lines.some((line) => line.id === `table-row-${active}`)) grid.setAttribute("aria-activedescendant", `table-row-${active}`);
  else grid.removeAttribute("aria-activedescendant");
  for (let index = from; index < to; index += PAGE) for (const one of [index, to - 1]) if (!isKnown(one)) void readAt(one, showWords).then(draw);
  clearTimeout(resting);
  if (mediaKind() === "picture" || mediaKind() === "sound") resting = setTimeout(showThumbs, REST_MS);
}

/** Pictures are read once the table is at rest. */
function showThumbs() {
  for (const place of view().body.querySelectorAll(".table-thumb:empty")) {
    const row = Number(/** @type {HTMLElement} */ (place).dataset.row);
    place.append(thumbnail(row));
  }
}

/** @param {import("../types.js").TableColumn[]} columns */
function chooseColumns(columns) {
  showColumns(columns);
  forget();
}

/** @param {import("../types.js").TableColumn[]} columns */
function showColumns(columns) {
  asked.columns = columns;
  view().grid.style.setProperty("--columns", columnWidths(columns));
  showHead();
}

function showHead() {
  const { head, grid } = view();
  const heads = asked.columns.map((column) => headNode(column, asked.query, sortBy));
  fill(head, element("div", { role: "columnheader", class: "table-tick" }, element("span", { class: "unseen" }, "Selected")), ...heads);
  grid.setAttribute("aria-colcount", String(asked.columns.length + 1));
}

/** @param {string} key */
function sortBy(key) {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.testid : undefined;
  if (asked.query.sort !== key) ask({ sort: key, descending: "no" });
  else if (asked.query.descending === "no") ask({ descending: "yes" });
  else ask({ sort: "", descending: "no" });
  if (focused) /** @type {HTMLElement|null} */ (view().head.querySelector(`[data-testid="${focused}"]`))?.focus();
}

/** @param {string} [problem] */
function showWords(problem = "") {
  const { words, tools } = view();
  const number = selected.size;
  const found = table && asked.total < table.rows ? `${whole(asked.total)} of ${counted(table.rows, "row")}` : counted(asked.total, "row");
  say(words, problem || `${found}${number ? `, ${whole(number)} selected` : ""}.`);
  fill(tools, ...selectionTools(selected, asked.total, { onAll: () => void selectAll(), onClear: clear, onLabelled: () => view().grid.focus() }));
}

// --- selection -----------------------------------------------------------------------------------

async function selectAll() {
  for (const row of await rowOrder()) selected.add(row);
  select();
}

function clear() {
  selected.clear();
  select();
}

function select() {
  showWords();
  draw();
}

/**
 * Select the rows between two places in the order.
 * @param {number} one
 * @param {number} other
 */
async function selectBetween(one, other) {
  const rows = await rowOrder();
  selected.clear();
  for (const row of rows.slice(Math.min(one, other), Math.max(one, other) + 1)) selected.add(row);
  select();
}

/** @param {number} index */
function toggle(index) {
  const line = lineAt(index);
  if (!line) return;
  if (!selected.delete(line.row)) selected.add(line.row);
  anchor = index;
  select();
}

/** @param {MouseEvent} event */
async function point(event) {
  const index = indexOf(event.target);
  if (index < 0 || (event.target instanceof Element && event.target.closest("a"))) return;
  active = index;
  if (event.shiftKey) await selectBetween(anchor, index);
  else if (event.ctrlKey || event.metaKey || (event.target instanceof Element && event.target.closest(".table-tick"))) toggle(index);
  else {
    selected.clear();
    toggle(index);
  }
  view().grid.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
async function press(event) {
  const { grid } = view();
  if (event.target !== grid || asked.total === 0) return;
  const isControl = event.ctrlKey || event.metaKey;
  const step = Math.max(1, Math.floor(extent().room / rowHeight()) - 1);
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + step, PageUp: active - step, Home: 0, End: asked.total - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    active = Math.min(asked.total - 1, Math.max(0, to));
    reveal();
    if (event.shiftKey) await selectBetween(anchor, active);
    else anchor = active;
    draw();
  } else if (event.key === " ") {
    event.preventDefault();
    event.stopPropagation();
    await readAt(active, showWords);
    toggle(active);
  } else if (event.key === "Enter") {
    // Else the dialog's first button, which has the focus by then, is pressed.
    event.preventDefault();
    const line = lineAt(active);
    if (line) void openRow(line.row);
  } else if (isControl && event.key.toLowerCase() === "a") {
    event.preventDefault();
    await selectAll();
  }
}

/** Scroll the active row into view. */
function reveal() {
  const { grid } = view();
  const { high, room, first, ratio } = extent();
  const top = (active * high) / ratio;
  if (active < first) grid.scrollTop = top;
  else if (active + 1 > first + room / high) grid.scrollTop = ((active + 1) * high - room) / ratio;
}
