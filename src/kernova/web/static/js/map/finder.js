/** Finding a row by its id: the way to any row without a pointer. */

import { get } from "../api.js";
import { element, fill } from "../dom.js";
import { worded } from "../words.js";

const PAUSE_MS = 150;

/**
 * Make a field that finds rows.
 * @param {(row: number) => void} onChoose
 */
export function rowFinder(onChoose) {
  const list = element("datalist", { id: "found-rows" });
  const input = element("input", { type: "search", id: "find-row", list: "found-rows", placeholder: worded("find a row by id"), "aria-label": worded("Find a row by id"), autocomplete: "off", "data-testid": "find-row" });
  /** @type {Map<string, number>} */
  const found = new Map();
  let timer = 0;
  const look = async () => {
    const text = input.value.trim();
    if (!text) return;
    const reply = await get("/api/rows", { find: text, limit: 20 }).catch(() => ({ rows: [] }));
    const { rows } = reply;
    for (const { row, id } of rows) found.set(id, row);
    fill(list, ...rows.map(({ id }) => element("option", { value: id })));
    input.setCustomValidity(rows.length ? "" : worded("No row has this id."));
  };
  const take = async () => {
    clearTimeout(timer);
    if (!found.has(input.value.trim())) await look();
    const row = found.get(input.value.trim()) ?? found.get(list.options[0]?.value ?? "");
    if (row === undefined) return void input.reportValidity();
    onChoose(row);
  };
  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    // Some browsers report that a suggestion was chosen; in others Enter follows.
    if (event instanceof InputEvent && event.inputType === "insertReplacementText" && found.has(input.value)) return void take();
    timer = setTimeout(look, PAUSE_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.repeat) void take();
  });
  return element("div", { class: "finder" }, input, list);
}
