/** The rest of the question's cluster: seen at a glance, ticked off one by one, named all at once. */

import { button, element, fill, say } from "./dom.js";
import { thumbnail } from "./media.js";
import { openRow } from "./row_dialog.js";
import { counted, listed, whole } from "./words.js";

/**
 * Show the rows that a question stands for.
 * @param {import("./types.js").Question} question
 * @param {{onScope: (isAll: boolean) => void}} listeners
 */
export function clusterPanel(question, { onScope }) {
  const others = question.members;
  const total = question.n_members;
  const features = question.card.features.map(({ name }) => name);
  const left = new Set();
  let isAll = false;

  const toggle = button("", () => setAll(!isAll), { class: "all-button", "data-testid": "name-all", "aria-pressed": "false", "aria-keyshortcuts": "A" });
  const words = element("p", { class: "hint", "data-testid": "cluster-words" });
  const everyone = button("", () => tickAll(left.size > 0), { class: "small quiet", "data-testid": "tick-all" });
  const items = others.map((row, place) => memberItem(row, question.member_ids[place], features, (isTicked) => {
    if (isTicked) left.delete(row);
    else left.add(row);
    setAll(true);
  }));
  const list = element("ul", { class: "thumbs", "data-testid": "cluster" }, ...items.map(({ node }) => node));

  function tickAll(isTicked) {
    left.clear();
    if (!isTicked) for (const row of others) left.add(row);
    for (const item of items) item.tick(isTicked);
    setAll(true);
  }
  function setAll(isOn) {
    if (total === 0) return;
    isAll = isOn;
    show();
    onScope(isAll);
  }
  function members() {
    if (!isAll) return null;
    // What was seen is named, row by row: a server that was started anew may see another cluster.
    return left.size === 0 && others.length < total ? "all" : others.filter((row) => !left.has(row));
  }
  function count() {
    return 1 + (left.size === 0 ? total : others.length - left.size);
  }
  function show() {
    toggle.setAttribute("aria-pressed", String(isAll));
    fill(toggle, element("kbd", {}, "A"), ` Name ${left.size > 0 ? "" : "all "}${whole(count())} together`);
    fill(everyone, left.size > 0 ? "Tick all" : "Untick all");
    node.classList.toggle("is-all", isAll);
    say(words, clusterWords(total, others.length, question.known_members, left.size));
  }

  const node = element("section", { class: "cluster", "aria-labelledby": "cluster-heading" },
    element("header", {}, element("h2", { id: "cluster-heading" }, "Its cluster"), total > 0 && toggle, total > 0 && everyone),
    words, list);
  if (total > 0) show();
  else say(words, `It stands for itself alone.${knownWords(question.known_members)}`);
  return { node, members, count: () => (isAll ? count() : 1), isAll: () => isAll, toggle: () => setAll(!isAll), reset: () => setAll(false) };
}

function clusterWords(total, shown, knownMembers, unticked) {
  const sentences = [`It stands for ${counted(total, "other row")} without a name, the nearest first.${knownWords(knownMembers)}`];
  if (shown < total) sentences.push(unticked > 0 ? `Only those ticked of the ${whole(shown)} shown are named.` : `${whole(shown)} are shown.`);
  sentences.push("Untick what is different; one undo takes a name back from all of them.");
  return sentences.join(" ");
}

function knownWords(knownMembers) {
  const known = Object.entries(knownMembers).map(([name, count]) => `${name} ${whole(count)}`);
  return known.length > 0 ? ` Named already: ${listed(known)}; these keep their names.` : "";
}

function memberItem(row, id, features, onTick) {
  const box = element("input", { type: "checkbox", checked: true, "aria-label": id });
  const look = button("⤢", () => openRow(row), { class: "quiet look", "aria-label": `Look at ${id}`, title: "Look at it" });
  const node = element("li", {}, element("label", { class: "tick" }, box, thumbnail(row, features), element("span", { class: "caption", title: id }, id)), look);
  const tick = (isTicked) => {
    box.checked = isTicked;
    node.classList.toggle("unticked", !isTicked);
  };
  box.addEventListener("change", () => {
    tick(box.checked);
    onTick(box.checked);
  });
  return { node, tick };
}
