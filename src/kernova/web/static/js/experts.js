/** The experts, and the rows that they label differently. */

import { settle } from "./actions.js";
import { get } from "./api.js";
import { button, byId, element, fill, keepingFocus } from "./dom.js";
import { labelTag } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed, listen, store } from "./store.js";
import { counted, worded } from "./words.js";

let shownFor = "";
/** On the view's tab: how many disagreements there are. */
const badge = element("span", { class: "badge", id: "disagreement-badge", hidden: true });

/** Build the view. */
export function startExperts() {
  byId("tab-experts").append(badge);
  onShown("experts", () => void show());
  listen(["state"], () => {
    showBadge();
    if (isSeen("experts")) void show();
  });
}

function showBadge() {
  const number = store.state?.disagreements ?? 0;
  badge.hidden = number === 0;
  fill(badge, String(number));
  badge.setAttribute("aria-label", counted(number, "disagreement"));
}

async function show() {
  const experts = store.state?.experts ?? [];
  const version = store.state?.version;
  const signature = JSON.stringify([experts, version]);
  if (signature === shownFor) return;
  shownFor = signature;
  const reply = await get("/api/disagreements").catch(() => ({ disagreements: [] }));
  const { disagreements } = reply;
  if (signature !== shownFor) return;
  keepingFocus(byId("view-experts"), () => fill(byId("view-experts"),
    element("header", { class: "view-head" }, element("h1", { id: "experts-heading" }, "Experts")),
    element("p", { class: "lead" }, worded("Several experts can work at the same time: each opens this address in their own browser. No two are asked about the same row.")),
    element("ul", { class: "expert-list", "data-testid": "expert-list" }, ...experts.map(expertItem)),
    element("h2", {}, "Disagreements"),
    element("p", { class: "hint" }, disagreements.length ? "The most recent label counts until a disagreement is settled." : "There are no disagreements."),
    element("ul", { class: "disagreement-list", "data-testid": "disagreements", "data-version": version }, ...disagreements.map(disagreementItem))));
}

/** @param {import("./types.js").ExpertHere} expert */
function expertItem({ name, questions, is_here: isHere }) {
  const isSelf = name === store.expert;
  return element("li", { class: isHere ? "here" : null }, element("b", {}, name || "unnamed"), isSelf && " (you)",
    element("small", {}, `${counted(questions, "answer")} · ${isHere ? "online" : "offline"}`));
}

/** @param {import("./types.js").Disagreement} disagreement */
function disagreementItem({ row, id, opinions, label }) {
  const names = [...new Set([...opinions.map((one) => one.label), label])];
  const other = async () => {
    const name = await askName({ title: `What is ${id}?`, words: opinions.map((one) => `${one.expert || "unnamed"}: ${one.label}`).join("; "), action: "Settle" });
    if (name !== null) await settle(row, id, name);
  };
  return element("li", { data: { row: String(row) } },
    button([thumbnail(row)], () => void openRow(row), { class: "thumb-button", "aria-label": `View ${id}` }),
    element("div", {}, element("h3", {}, id),
      element("ul", { class: "opinions" }, ...opinions.map((one) => element("li", {}, `${one.expert || "unnamed"}: `, labelTag(categoryNamed(one.label), one.label)))),
      element("div", { class: "line" }, "Correct label:", ...names.map((name) => button([labelTag(categoryNamed(name), name)], () => void settle(row, id, name), { class: "small", "data-testid": "settle" })),
        button("Other …", () => void other(), { class: "small quiet" }))));
}
