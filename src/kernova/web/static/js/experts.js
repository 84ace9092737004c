/** Who is here, and where experts said different things about a row. */

import { settle } from "./actions.js";
import { get } from "./api.js";
import { button, byId, element, fill, keepingFocus } from "./dom.js";
import { labelTag } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed, listen, store } from "./store.js";
import { counted } from "./words.js";

let shownFor = "";

/** Build the view. */
export function startExperts() {
  onShown("experts", () => void show());
  listen("state", () => {
    showBadge();
    if (isSeen("experts")) void show();
  });
}

function showBadge() {
  const number = store.state?.disagreements ?? 0;
  const badge = byId("disagreement-badge");
  badge.hidden = number === 0;
  fill(badge, String(number));
  badge.setAttribute("aria-label", counted(number, "disagreement"));
}

async function show() {
  const { experts = [], version } = store.state ?? {};
  const signature = JSON.stringify([experts, version]);
  if (signature === shownFor) return;
  shownFor = signature;
  const reply = await get("/api/disagreements").catch(() => ({ disagreements: [] }));
  const { disagreements } = reply;
  if (signature !== shownFor) return;
  keepingFocus(byId("view-experts"), () => fill(byId("view-experts"),
    element("header", { class: "view-head" }, element("h1", { id: "experts-heading" }, "Experts")),
    element("p", { class: "lead" }, "Several experts can answer at once: each opens this address in a browser of their own. No two are asked about the same row."),
    element("ul", { class: "expert-list", "data-testid": "expert-list" }, ...experts.map(expertItem)),
    element("h2", {}, "Disagreements"),
    element("p", { class: "hint" }, disagreements.length ? "The latest word stands until a row is settled." : "No two experts disagree about a row."),
    element("ul", { class: "disagreement-list", "data-testid": "disagreements", "data-version": version }, ...disagreements.map(disagreementItem))));
}

function expertItem({ name, questions, is_here: isHere }) {
  const isSelf = name === store.expert;
  return element("li", { class: isHere ? "here" : null }, element("b", {}, name || "unnamed"), isSelf && " (you)",
    element("small", {}, `${counted(questions ?? 0, "answer")} · ${isHere ? "here now" : "not here"}`));
}

function disagreementItem({ row, id, opinions, label }) {
  const names = [...new Set([...opinions.map((one) => one.label), label])];
  const other = async () => {
    const name = await askName({ title: `What is ${id}?`, words: opinions.map((one) => `${one.expert || "unnamed"}: ${one.label}`).join("; "), action: "Settle" });
    if (name !== null) await settle(row, id, name);
  };
  return element("li", { data: { row: String(row) } },
    button([thumbnail(row)], () => void openRow(row), { class: "thumb-button", "aria-label": `Look at ${id}` }),
    element("div", {}, element("h3", {}, id),
      element("ul", { class: "opinions" }, ...opinions.map((one) => element("li", {}, `${one.expert || "unnamed"}: `, labelTag(categoryNamed(one.label), one.label)))),
      element("div", { class: "line" }, "It is ", ...names.map((name) => button([labelTag(categoryNamed(name), name)], () => void settle(row, id, name), { class: "small", "data-testid": "settle" })),
        button("another …", () => void other(), { class: "small quiet" }))));
}
