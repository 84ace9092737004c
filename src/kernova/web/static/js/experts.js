/** The experts: who is here, invitations, planned overlap, agreement, and the rows that they label differently. */

import { settle } from "./actions.js";
import { get } from "./api.js";
import { agreementSection } from "./colleagues/agreement.js";
import { invitationsSection } from "./colleagues/invitations.js";
import { overlapSection } from "./colleagues/overlap.js";
import { openSettle } from "./colleagues/settle.js";
import { button, byId, element, fill, keepingFocus, say } from "./dom.js";
import { labelTag } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed, listen, store } from "./store.js";
import { counted, whole, worded } from "./words.js";

const MOST_LISTED = 20;
let shownFor = "";
/** @type {ReturnType<typeof build>|null} */
let parts = null;
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

function build() {
  const list = element("ul", { class: "expert-list", "data-testid": "expert-list" });
  const disputed = element("ul", { class: "disagreement-list", "data-testid": "disagreements" });
  const words = element("p", { class: "hint" });
  const settling = button("Settle side by side", () => void openSettle(), { class: "primary", "data-testid": "settle-all", hidden: true });
  const sections = [overlapSection(), agreementSection(), invitationsSection()];
  const [overlap, agreement, invitations] = sections.map(({ node }) => node);
  fill(byId("view-experts"),
    element("header", { class: "view-head" }, element("h1", { id: "experts-heading" }, "Experts")),
    element("p", { class: "lead" }, worded("Several experts can work at the same time. No two are asked about the same row, except for planned comparisons.")),
    list,
    element("section", { "aria-labelledby": "disagreements-heading" }, element("h2", { id: "disagreements-heading" }, "Disagreements"), element("div", { class: "line" }, words, settling), disputed),
    agreement, overlap, invitations);
  return { list, disputed, words, settling, sections };
}

async function show() {
  parts ??= build();
  const { list, disputed, words, settling, sections } = parts;
  const experts = store.state?.experts ?? [];
  const version = store.state?.version;
  const signature = JSON.stringify([experts, version]);
  if (signature === shownFor) return;
  shownFor = signature;
  const reply = await get("/api/disagreements").catch(() => ({ disagreements: [] }));
  const { disagreements } = reply;
  await Promise.all(sections.map((one) => one.show()));
  if (signature !== shownFor) return;
  keepingFocus(list, () => fill(list, ...experts.map(expertItem)));
  const more = disagreements.length > MOST_LISTED ? ` The first ${MOST_LISTED} of ${whole(disagreements.length)} are listed.` : "";
  say(words, disagreements.length ? `The most recent label counts until a disagreement is settled.${more}` : "There are no disagreements.");
  settling.hidden = disagreements.length === 0;
  keepingFocus(disputed, () => fill(disputed, ...disagreements.slice(0, MOST_LISTED).map(disagreementItem)));
  disputed.dataset.version = String(version);
}

/** @param {import("./types.js").ExpertHere} expert */
function expertItem({ name, questions, comparisons, is_here: isHere }) {
  const isSelf = name === store.expert;
  return element("li", { class: isHere ? "here" : null }, element("b", {}, name || "unnamed"), isSelf && " (you)",
    element("small", {}, `${counted(questions, "answer")}${comparisons ? `, ${counted(comparisons, "comparison")}` : ""} · ${isHere ? "online" : "offline"}`));
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
