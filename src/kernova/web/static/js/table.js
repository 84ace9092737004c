/** The table of all rows: sorted, filtered, selected, labelled and compared. Only what is in view is in the page. */

import { labelRows } from "./actions.js";
import { address, get, getNumbers, messageOf } from "./api.js";
import { FEWEST_COMPARED, MOST_COMPARED, openCompare } from "./compare.js";
import { outsideLink } from "./context.js";
import { openDialog } from "./dialogs.js";
import { button, byId, element, fill, say } from "./dom.js";
import { labelTag } from "./glyph.js";
import { keep, kept } from "./kept.js";
import { mediaKind, thumbnail } from "./media.js";
import { openAlike } from "./more_like.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed, listen, store } from "./store.js";
import { counted, whole } from "./words.js";

/** @typedef {import("./types.js").TableLine} TableLine */
/** @typedef {import("./types.js").TableColumn} TableColumn */
/** @typedef {{sort: string, descending: "yes"|"no", find: string, within: string, status: string}} Query */

const PAGE = 100;
const ROW_REM = 2.4;
/** Browsers limit the height of an element; beyond, the bar moves in larger steps. */
const TALLEST_PX = 8e6;
const REST_MS = 140;
const TYPING_MS = 250;
const MOST_CHOICES = 400;

/** @type {Query} */
const query = { sort: "", descending: "no", find: "", within: "", status: "" };
/** @type {ReturnType<typeof build>|null} */
let built = null;
/** @type {import("./types.js").TableReply|null} */
let table = null;
/** @type {TableColumn[]} */
let columns = [];
let total = 0;
/** @type {Map<number, TableLine[]|Promise<void>>} */
const pages = new Map();
/** @type {Promise<Uint32Array>|null} */
let ordering = null;
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
    fill(view.within, element("option", { value: "" }, "all texts"), ...table.columns.slice(0, MOST_CHOICES).map(({ key, name }) => element("option", { value: key }, name)));
    fill(view.status, element("option", { value: "" }, "every status"), ...table.statuses.map((name) => element("option", { value: name }, name)));
    chooseColumns(keptColumns());
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
      button("Columns …", openColumns, { class: "small", "data-testid": "table-columns" })),
    words, tools, grid,
    element("p", { class: "hint", id: "table-hint" }, "Arrow keys move, Space selects, Shift extends, Ctrl+A selects all, Enter opens the row. Of a column of numbers, find > 3, 1..5 or missing."));
  return { search, within, status, words, head, body, grid, tools };
}

/** The parts of the view, which is built when it is first shown. */
function view() {
  built ??= build();
  return built;
}

/** @param {Partial<Query>} changes */
function ask(changes) {
  Object.assign(query, changes);
  active = 0;
  anchor = 0;
  view().grid.scrollTop = 0;
  showHead();
  forget();
}

/** Read everything again: the order, or labels, may have changed. */
function forget() {
  pages.clear();
  ordering = null;
  void read(Math.floor(active / PAGE)).then(draw);
}

/**
 * Read a page of lines, once.
 * @param {number} page
 * @returns {Promise<void>}
 */
function read(page) {
  const before = pages.get(page);
  if (before) return Array.isArray(before) ? Promise.resolve() : before;
  const version = seen;
  const asked = JSON.stringify(query);
  const keys = columns.filter(({ kind }) => kind === "context" || kind === "feature").map(({ key }) => key).join(",");
  const reading = get("/api/table/rows", { ...query, columns: keys, offset: page * PAGE, limit: PAGE }).then((reply) => {
    if (version !== seen || asked !== JSON.stringify(query)) return;
    pages.set(page, reply.lines);
    total = reply.total;
    showWords(reply.problem);
  }, (error) => {
    pages.delete(page);
    if (asked === JSON.stringify(query)) say(view().words, messageOf(error));
  });
  pages.set(page, reading);
  return reading;
}

/** The rows in their order, as far as the filter leaves them. */
function order() {
  ordering ??= getNumbers(address("/api/table/order", { ...query })).then(({ buffer }) => new Uint32Array(buffer));
  ordering.catch(() => (ordering = null));
  return ordering;
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
  const full = total * high;
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
  grid.setAttribute("aria-rowcount", String(total + 1));
  const from = Math.max(0, Math.floor(first) - 4);
  const to = Math.min(total, Math.ceil(first + room / high) + 4);
  /** @type {HTMLElement[]} */
  const lines = [];
  for (let index = from; index < to; index += 1) {
    const line = lineNode(index);
    line.style.top = `${grid.scrollTop + (index - first) * high}px`;
    line.style.height = `${high}px`;
    lines.push(line);
  }
  fill(body, ...lines);
  if (document.activeElement === grid || lines.some((line) => line.id === `table-row-${active}`)) grid.setAttribute("aria-activedescendant", `table-row-${active}`);
  else grid.removeAttribute("aria-activedescendant");
  for (let page = Math.floor(from / PAGE); page * PAGE < to; page += 1) if (!pages.has(page)) void read(page).then(draw);
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

/** @param {number} index */
function lineAt(index) {
  const page = pages.get(Math.floor(index / PAGE));
  return Array.isArray(page) ? page[index % PAGE] : undefined;
}

/** @param {number} index */
function lineNode(index) {
  const line = lineAt(index);
  const isChosen = line !== undefined && selected.has(line.row);
  const node = element("div", { role: "row", id: `table-row-${index}`, class: index === active ? "table-line active" : "table-line", "aria-rowindex": String(index + 2), "aria-selected": String(isChosen), data: { index: String(index) } });
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
  else if (/^https?:\/\/\S+$/i.test(value)) cell.append(withoutTab(outsideLink(value, value)));
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

function showHead() {
  const { head, grid } = view();
  const heads = columns.map(({ key, name, is_number: isNumber }) => {
    const sorted = query.sort === key ? (query.descending === "yes" ? "descending" : "ascending") : null;
    const sign = sorted === "ascending" ? " ▲" : sorted === "descending" ? " ▼" : "";
    return element("div", { role: "columnheader", class: isNumber ? "number" : null, "aria-sort": sorted },
      button([element("span", {}, name), sign && element("span", { "aria-hidden": "true" }, sign)], () => sortBy(key), { class: "quiet", title: `Sort by ${name}`, "data-testid": `sort-${key}` }));
  });
  fill(head, element("div", { role: "columnheader", class: "table-tick" }, element("span", { class: "unseen" }, "Selected")), ...heads);
  grid.setAttribute("aria-colcount", String(columns.length + 1));
}

/** @param {string} key */
function sortBy(key) {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.testid : undefined;
  if (query.sort !== key) ask({ sort: key, descending: "no" });
  else if (query.descending === "no") ask({ descending: "yes" });
  else ask({ sort: "", descending: "no" });
  if (focused) /** @type {HTMLElement|null} */ (view().head.querySelector(`[data-testid="${focused}"]`))?.focus();
}

/** @param {string} [problem] */
function showWords(problem = "") {
  const { words, tools } = view();
  const number = selected.size;
  const found = table && total < table.rows ? `${whole(total)} of ${counted(table.rows, "row")}` : counted(total, "row");
  say(words, problem || `${found}${number ? `, ${whole(number)} selected` : ""}.`);
  const rows = () => [...selected];
  fill(tools,
    button("Label …", () => void nameSelected(), { class: "small primary", disabled: number === 0, "data-testid": "table-label" }),
    button("More like these", () => void openAlike(rows()), { class: "small", disabled: number === 0, "data-testid": "table-alike" }),
    button(number > MOST_COMPARED ? `Compare the first ${MOST_COMPARED}` : "Compare", () => void openCompare(rows()), { class: "small", disabled: number < FEWEST_COMPARED, "data-testid": "table-compare" }),
    button(`Select all ${whole(total)}`, () => void selectAll(), { class: "small quiet", disabled: total === 0, "data-testid": "table-all" }),
    button("Clear the selection", clear, { class: "small quiet", disabled: number === 0, "data-testid": "table-clear" }));
}

// --- selection -----------------------------------------------------------------------------------

async function nameSelected() {
  const rows = [...selected];
  const name = await askName({ title: `Label ${counted(rows.length, "row")}`, words: "Rows that have a label already get this one. A single undo reverses this." });
  if (name === null) return;
  clear();
  await labelRows(rows, name);
  view().grid.focus();
}

async function selectAll() {
  for (const row of await order()) selected.add(row);
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
  const rows = await order();
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

/** @param {EventTarget|null} target */
function indexOf(target) {
  const node = target instanceof Element ? target.closest("[data-index]") : null;
  return node instanceof HTMLElement ? Number(node.dataset.index) : -1;
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
  if (event.target !== grid || total === 0) return;
  const isControl = event.ctrlKey || event.metaKey;
  const step = Math.max(1, Math.floor(extent().room / rowHeight()) - 1);
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + step, PageUp: active - step, Home: 0, End: total - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    active = Math.min(total - 1, Math.max(0, to));
    reveal();
    if (event.shiftKey) await selectBetween(anchor, active);
    else anchor = active;
    draw();
  } else if (event.key === " ") {
    event.preventDefault();
    event.stopPropagation();
    await read(Math.floor(active / PAGE));
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

// --- columns -------------------------------------------------------------------------------------

/** The columns that were chosen for tables with these names; otherwise those that the server proposes. */
function keptColumns() {
  const all = table?.columns ?? [];
  const names = (kept(`columns ${store.session?.project ?? ""}`) ?? "").split("\n").filter(Boolean);
  const chosen = all.filter(({ kind, name }) => names.includes(`${kind} ${name}`));
  return chosen.length > 0 ? chosen.map(({ key }) => key) : table?.shown ?? [];
}

/** @param {string[]} keys */
function chooseColumns(keys) {
  columns = (table?.columns ?? []).filter(({ key, kind }) => kind === "id" || keys.includes(key));
  const widths = columns.map(({ kind }) => ({ id: "13rem", label: "10rem", status: "7rem", context: "12rem", feature: "7.500rem" })[kind]);
  view().grid.style.setProperty("--columns", ["2.200rem", ...widths].join(" "));
  showHead();
}

function openColumns() {
  if (!table) return;
  const { columns: all, shown } = table;
  const boxes = all.filter(({ kind }) => kind !== "id").slice(0, MOST_CHOICES).map(({ key, kind, name }) => {
    const box = element("input", { type: "checkbox", value: key, checked: columns.some((column) => column.key === key) });
    return { box, node: element("label", { class: "check-line" }, box, name, element("small", {}, kind)) };
  });
  /** @param {string[]} keys */
  const choose = (keys) => {
    chooseColumns(keys);
    const names = columns.map(({ kind, name }) => `${kind} ${name}`);
    keep(`columns ${store.session?.project ?? ""}`, keys === shown ? null : names.join("\n"));
    forget();
    dialog.close();
  };
  const dialog = openDialog("Columns", [
    element("div", { class: "check-list" }, ...boxes.map(({ node }) => node)),
    element("div", { class: "line ending" },
      button("Show these", () => choose(boxes.filter(({ box }) => box.checked).map(({ box }) => box.value)), { class: "primary", "data-testid": "columns-show" }),
      button("As at first", () => choose(shown))),
  ], { testid: "columns-dialog" });
}
