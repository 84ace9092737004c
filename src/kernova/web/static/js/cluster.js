/** The other rows of the question's cluster: shown at a glance, deselected one by one, labelled together. */

import { button, element, fill, say } from "./dom.js";
import { unusualNames } from "./features.js";
import { thumbnail } from "./media.js";
import { openRow } from "./row_dialog.js";
import { playable } from "./sound.js";
import { counted, listed, whole, worded } from "./words.js";

/** @typedef {ReturnType<typeof clusterPanel>} ClusterPanel */

/**
 * Show the rows that a question represents.
 * @param {import("./types.js").QuestionShown} question
 * @param {{onScope: (isAll: boolean) => void}} listeners
 */
export function clusterPanel(question, { onScope }) {
  const others = question.members;
  const total = question.n_members;
  const features = unusualNames(question.card);
  /** @type {Set<number>} */
  const left = new Set();
  let isAll = false;

  const toggle = button("", () => setAll(!isAll), { class: "all-button", "data-testid": "name-all", "aria-pressed": "false", "aria-keyshortcuts": "A" });
  const words = element("p", { class: "hint", "data-testid": "cluster-words" });
  const everyone = button("", () => tickAll(left.size > 0), { class: "small quiet", "data-testid": "tick-all" });
  const items = others.map((row, index) => memberItem(row, question.member_ids[index], features, (isTicked) => {
    if (isTicked) left.delete(row);
    else left.add(row);
    setAll(true);
  }));
  const list = element("ul", { class: "thumbs", "data-testid": "cluster" }, ...items.map(({ node }) => node));

  /** @param {boolean} isTicked */
  function tickAll(isTicked) {
    left.clear();
    if (!isTicked) for (const row of others) left.add(row);
    for (const item of items) item.tick(isTicked);
    setAll(true);
  }
  /** @param {boolean} isOn */
  function setAll(isOn) {
    if (total === 0) return;
    isAll = isOn;
    show();
    onScope(isAll);
  }
  /** @returns {null|"all"|number[]} */
  function members() {
    if (!isAll) return null;
    // The rows that were shown are labelled one by one: a server that was restarted may compute another cluster.
    return left.size === 0 && others.length < total ? "all" : others.filter((row) => !left.has(row));
  }
  function count() {
    return 1 + (left.size === 0 ? total : others.length - left.size);
  }
  function show() {
    toggle.setAttribute("aria-pressed", String(isAll));
    fill(toggle, element("kbd", {}, "A"), ` Label ${left.size > 0 ? "" : "all "}${counted(count(), "row")}`);
    fill(everyone, left.size > 0 ? "Select all" : "Deselect all");
    node.classList.toggle("is-all", isAll);
    say(words, clusterWords(total, others.length, question.known_members, left.size));
  }

  const node = element("section", { class: "cluster", "aria-labelledby": "cluster-heading" },
    element("header", {}, element("h2", { id: "cluster-heading" }, "Cluster"), total > 0 && toggle, total > 0 && everyone),
    words, list);
  if (total > 0) show();
  else say(words, `${worded("It represents no other unlabelled rows.")}${knownWords(question.known_members)}`);
  return { node, members, count: () => (isAll ? count() : 1), isAll: () => isAll, toggle: () => setAll(!isAll), reset: () => setAll(false) };
}

/**
 * @param {number} total
 * @param {number} shown
 * @param {Object<string, number>} knownMembers
 * @param {number} unticked
 */
function clusterWords(total, shown, knownMembers, unticked) {
  const sentences = [`It represents ${counted(total, "other unlabelled row")}, nearest first.${knownWords(knownMembers)}`];
  if (shown < total) sentences.push(unticked > 0 ? `Only the selected ones of the ${counted(shown, "row")} shown are labelled.` : `${whole(shown)} are shown.`);
  sentences.push(worded("Deselect rows that differ; a single undo removes the label from all of them."));
  return sentences.join(" ");
}

/** @param {Object<string, number>} knownMembers */
function knownWords(knownMembers) {
  const known = Object.entries(knownMembers).map(([name, count]) => `${name} ${whole(count)}`);
  return known.length > 0 ? ` Already labelled: ${listed(known)}; these keep their labels.` : "";
}

/**
 * @param {number} row
 * @param {string} id
 * @param {string[]} features
 * @param {(isTicked: boolean) => void} onTick
 */
function memberItem(row, id, features, onTick) {
  const box = element("input", { type: "checkbox", checked: true, "aria-label": id });
  const look = button("⤢", () => openRow(row), { class: "quiet look", "aria-label": `View ${id}`, title: "View" });
  const node = element("li", {}, element("label", { class: "tick" }, box, thumbnail(row, features), element("span", { class: "caption", title: id }, id)), look);
  playable(node, row, id);
  /** @param {boolean} isTicked */
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
