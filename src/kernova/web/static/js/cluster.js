/** The rest of the question's cluster: seen at a glance, ticked off one by one, named all at once. */

import { button, element, fill, say } from "./dom.js";
import { glyph } from "./glyph.js";
import { readCard, thumbnail, whenSeen } from "./media.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed } from "./store.js";
import { counted, listed, whole } from "./words.js";

/**
 * Show the rows that a question stands for.
 * @param {import("./types.js").Question} question
 * @param {{onScope: (isAll: boolean) => void}} listeners
 */
export function clusterPanel(question, { onScope }) {
  const others = question.members.filter((row) => row !== question.row);
  const total = Math.max(others.length, question.n_members - (question.members.includes(question.row) ? 1 : 0));
  const known = Object.values(question.known_members ?? {}).reduce((sum, count) => sum + count, 0);
  const features = question.card.features.map(({ name }) => name);
  const left = new Set();
  let isAll = false;

  const toggle = button("", () => setAll(!isAll), { class: "all-button", "data-testid": "name-all", "aria-pressed": "false", "aria-keyshortcuts": "A" });
  const words = element("p", { class: "hint", "data-testid": "cluster-words" });
  const everyone = button("", () => tickAll(left.size > 0), { class: "small quiet", "data-testid": "tick-all" });
  const items = others.map((row) => memberItem(row, features, (isTicked) => {
    if (isTicked) left.delete(row);
    else left.add(row);
    setAll(true);
  }));
  const list = element("ul", { class: "thumbs", "data-testid": "cluster" }, ...items.map(({ node }) => node));

  function tickAll(isTicked) {
    for (const { box } of items) if (!box.disabled) box.checked = isTicked;
    left.clear();
    if (!isTicked) for (const row of others) left.add(row);
    show();
  }
  function setAll(isOn) {
    isAll = isOn && total - known > 0;
    show();
    onScope(isAll);
  }
  function members() {
    if (!isAll) return null;
    return left.size === 0 ? "all" : others.filter((row) => !left.has(row) && !isTaken(row));
  }
  const isTaken = (row) => items.find((item) => item.row === row)?.box.disabled;
  function count() {
    if (left.size === 0) return 1 + total - known;
    return 1 + members().length;
  }
  function show() {
    toggle.setAttribute("aria-pressed", String(isAll));
    fill(toggle, element("kbd", {}, "A"), isAll ? ` Naming ${counted(count(), "row")} together` : ` Name all ${whole(1 + total - known)} together`);
    fill(everyone, left.size > 0 ? "Tick all" : "Untick all");
    node.classList.toggle("is-all", isAll);
    say(words, clusterWords(total, others.length, question.known_members, isAll, left.size));
  }

  const node = element("section", { class: "cluster", "aria-labelledby": "cluster-heading" },
    element("header", {}, element("h2", { id: "cluster-heading" }, "Its cluster"), total > 0 && toggle, total > 0 && everyone),
    words, list);
  if (total > 0) show();
  else say(words, "It stands for itself alone.");
  return { node, members, count: () => (isAll ? count() : 1), isAll: () => isAll, toggle: () => setAll(!isAll), reset: () => setAll(false) };
}

function clusterWords(total, shown, knownMembers, isAll, unticked) {
  const known = Object.entries(knownMembers ?? {}).map(([name, count]) => `${name} ${whole(count)}`);
  const sentences = [`It stands for ${counted(total, "other row")}, the nearest first.`];
  if (known.length > 0) sentences.push(`Known among them: ${listed(known)}; these keep their names.`);
  if (shown < total) sentences.push(unticked > 0 ? `Only those ticked of the ${whole(shown)} shown are named.` : `${whole(shown)} are shown.`);
  if (isAll) sentences.push("Untick what is different; the next name goes to all that are ticked, and one undo takes it back.");
  return sentences.join(" ");
}

function memberItem(row, features, onTick) {
  const box = element("input", { type: "checkbox", checked: true, "aria-label": `Row ${row + 1}` });
  const caption = element("span", { class: "caption" });
  const look = button("⤢", () => openRow(row), { class: "quiet look", "aria-label": "Look at it", title: "Look at it" });
  const node = element("li", {}, element("label", { class: "tick" }, box, thumbnail(row, features), caption), look);
  box.addEventListener("change", () => {
    node.classList.toggle("unticked", !box.checked);
    onTick(box.checked);
  });
  whenSeen(node, async () => {
    const card = await readCard(row).catch(() => null);
    if (!card) return;
    box.setAttribute("aria-label", card.id);
    look.setAttribute("aria-label", `Look at ${card.id}`);
    fill(caption, card.label !== null && glyph(categoryNamed(card.label)?.colour), card.label ?? card.id);
    caption.title = card.label === null ? card.id : `${card.id}: ${card.label}`;
    box.disabled = card.label !== null;
    if (box.disabled) box.checked = false;
    node.classList.toggle("named", box.disabled);
  });
  return { row, box, node };
}
