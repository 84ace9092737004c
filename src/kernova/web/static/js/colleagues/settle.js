/** Disputed rows one by one: the row, the opinions side by side, examples of each category, keys to settle. */

import { settle } from "../actions.js";
import { get } from "../api.js";
import { openDialog } from "../dialogs.js";
import { button, element, fill } from "../dom.js";
import { featureList } from "../features.js";
import { labelTag } from "../glyph.js";
import { largeMedia, readCard, thumbnail } from "../media.js";
import { askName } from "../naming.js";
import { categoryNamed } from "../store.js";
import { counted, timeWords, whole } from "../words.js";

/** @typedef {import("../types.js").DisputesReply} Disputes */
/** @typedef {import("../types.js").Disputed} Disputed */

/**
 * Show disputed rows over the page.
 * @param {[string, string]|null} pair only rows with opinions for both of these categories
 */
export async function openSettle(pair = null) {
  const panel = element("div", { class: "settle-panel", tabindex: "-1", "data-testid": "settle-panel" });
  const where = element("p", { class: "hint", role: "status", "data-testid": "settle-where" });
  const filter = element("select", { class: "small", "aria-label": "Pair of categories", "data-testid": "settle-filter", on: { change: () => void choose(filter.value) } });
  const dialog = openDialog("Settle disagreements", [element("div", { class: "line" }, filter, where), panel], { testid: "settle-dialog", isWide: true });
  dialog.node.classList.add("settle");
  dialog.node.addEventListener("keydown", press);
  let offset = 0;
  let total = 0;
  /** @type {Disputed|null} */
  let current = null;
  /** @type {[string, string][]} */
  let pairs = [];

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.target instanceof HTMLSelectElement || event.ctrlKey || event.altKey || event.metaKey || event.repeat || !current) return;
    const name = namesOf(current)[Number(event.key) - 1];
    if (name !== undefined) void decide(name);
    else if (event.key === "o" || event.key === "O") void other();
    else if (event.key === "ArrowRight") move(1);
    else if (event.key === "ArrowLeft") move(-1);
    else return;
    event.preventDefault();
  }
  /** @param {string} value */
  async function choose(value) {
    pair = value === "" ? null : pairs[Number(value)];
    offset = 0;
    await show();
  }
  /** @param {number} step */
  function move(step) {
    if (offset + step < 0 || offset + step >= total) return;
    offset += step;
    void show();
  }
  /** @param {string} name */
  async function decide(name) {
    const row = current;
    current = null; // one key press settles one row
    if (row !== null && (await settle(row.row, row.id, name)) === null) current = row;
    await show();
  }
  async function other() {
    if (current === null) return;
    const words = current.opinions.map((one) => `${one.expert || "unnamed"}: ${one.label}`).join("; ");
    const name = await askName({ title: `What is ${current.id}?`, words, action: "Settle" });
    if (name !== null) await decide(name);
    else panel.focus();
  }
  async function show() {
    const query = pair ? { first: pair[0], second: pair[1] } : {};
    const told = await get("/api/disputes", { ...query, limit: 1, offset }).catch(() => null);
    if (!told || !dialog.node.open) return;
    total = told.total;
    if (total > 0 && offset >= total) {
      offset = total - 1;
      return void (await show());
    }
    showFilter(told);
    current = told.rows[0] ?? null;
    where.textContent = current ? `${whole(offset + 1)} of ${counted(total, "disputed row")}` : "";
    if (current) fill(panel, ...(await sides(current, told)));
    else fill(panel, element("p", { class: "lead", "data-testid": "all-settled" }, "Nothing is left to settle here."));
    panel.focus({ preventScroll: true });
    dialog.node.scrollTop = 0;
  }
  /** @param {Disputes} told */
  function showFilter(told) {
    pairs = told.pairs.map(({ first, second }) => [first, second]);
    const chosen = pair === null ? -1 : pairs.findIndex(([first, second]) => first === [...(pair ?? [])].sort()[0] && second === [...(pair ?? [])].sort()[1]);
    fill(filter, element("option", { value: "" }, "all categories"), ...told.pairs.map(({ first, second, rows }, index) => element("option", { value: index }, `${first} or ${second} (${whole(rows)})`)));
    filter.value = chosen < 0 ? "" : String(chosen);
  }
  /**
   * @param {Disputed} disputed
   * @param {Disputes} told
   */
  async function sides(disputed, { examples }) {
    const names = namesOf(disputed);
    const card = await readCard(disputed.row).catch(() => null);
    const media = card && largeMedia(card);
    const answers = names.map((name, index) => element("section", { class: "settle-side" },
      element("h3", {}, labelTag(categoryNamed(name), name)),
      ...disputed.opinions.filter(({ label }) => label === name).map(opinion),
      button([element("kbd", {}, String(index + 1)), ` It is ${name}`], () => void decide(name), { class: "primary", "data-testid": "settle-as", "aria-keyshortcuts": String(index + 1) }),
      examplesOf(examples.find((one) => one.name === name))));
    return [
      element("h3", { "data-testid": "settle-id" }, disputed.id),
      disputed.note && element("p", { class: "settle-note" }, element("b", {}, `Note by ${disputed.note.by || "unnamed"}: `), disputed.note.text),
      element("div", { class: "settle-row" }, media || (card && featureList(card)),
        element("div", { class: "settle-sides" }, ...answers)),
      element("div", { class: "line settle-tools" },
        button([element("kbd", {}, "←"), " Back"], () => move(-1), { disabled: offset === 0 ? "" : false, "data-testid": "settle-back" }),
        button([element("kbd", {}, "→"), " Next"], () => move(1), { title: "Leave it open and go to the next row", disabled: offset + 1 >= total ? "" : false, "data-testid": "settle-next" }),
        button([element("kbd", {}, "O"), " Other …"], () => void other(), { "data-testid": "settle-other" })),
    ];
  }
  await show();
}

/** @param {Disputed} disputed */
function namesOf({ opinions, label }) {
  return [...new Set([...opinions.map((one) => one.label), label])];
}

/** @param {import("../types.js").OpinionShown} opinion */
function opinion({ expert, at, confidence, is_blind: isBlind, n_rows: rows }) {
  const how = [at ? timeWords(at) : "", confidence ? `${confidence} confidence` : "", isBlind ? "without seeing others" : "after others", rows > 1 ? `with ${counted(rows - 1, "other row")}` : ""];
  return element("p", { class: "settle-opinion" }, element("b", {}, expert || "unnamed"), element("small", {}, how.filter(Boolean).join(" · ")));
}

/** @param {import("../types.js").Examples|undefined} examples */
function examplesOf(examples) {
  if (!examples || examples.rows.length === 0) return element("p", { class: "hint" }, "No undisputed row has this label.");
  return element("figure", {}, element("figcaption", { class: "hint" }, `${examples.name}, undisputed`),
    element("div", { class: "thumb-row" }, ...examples.rows.map((row) => thumbnail(row))));
}
