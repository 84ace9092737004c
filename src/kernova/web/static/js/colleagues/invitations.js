/** Invitations: a link for each colleague, to be sent; which are open, and their end. */

import { get, messageOf, post } from "../api.js";
import { button, element, fill, keepingFocus, say } from "../dom.js";
import { timeWords } from "../words.js";

/** @typedef {import("../types.js").InvitationsReply} Invitations */

const STATES = { open: "link not used yet", used: "has logged in", expired: "link has expired" };

/** Build the section; `show` brings it up to date. */
export function invitationsSection() {
  const words = element("p", { class: "hint", "data-testid": "reach-words" });
  const name = element("input", { type: "text", id: "invite-name", "data-testid": "invite-name", maxlength: 100, autocomplete: "off", required: true });
  const problem = element("p", { class: "problem", role: "alert" });
  const result = element("div", { class: "invitation", "data-testid": "invitation" });
  const list = element("ul", { class: "invitation-list", "data-testid": "invitation-list" });
  const form = element("form", { class: "line", on: { submit: (event) => (event.preventDefault(), void invite(name.value)) } },
    element("label", { for: "invite-name" }, "Name of a colleague"), name, element("button", { type: "submit", "data-testid": "invite" }, "Make a link"));
  const node = element("section", { "aria-labelledby": "invite-heading" }, element("h2", { id: "invite-heading" }, "Invitations"), words, form, problem, result, list);

  /** @param {string} typed */
  async function invite(typed, isSame = false) {
    say(problem, "");
    if (!typed.trim()) return;
    try {
      const reply = await post("/api/invitations", { name: typed.trim(), is_same: isSame });
      if (reply.doubt) return askAbout(reply.name, reply.doubt);
      name.value = "";
      showLink(reply.name, reply.links);
      await show();
    } catch (error) {
      say(problem, messageOf(error));
    }
  }
  /**
   * @param {string} typed
   * @param {import("../types.js").Doubt} doubt
   */
  function askAbout(typed, { kind, names }) {
    const sentence = kind === "taken" ? `${typed} is working here already. Is the link for the same person?`
      : `There is already an expert with almost the same name: ${names.join(", ")}. Is the link for the same person?`;
    const same = names.map((one) => button(`Yes, for ${one}`, () => void invite(one, true), { class: "primary", "data-testid": "invite-same" }));
    const other = kind === "taken" ? button("No, choose another name", () => (fill(result), name.focus()))
      : button(`No, ${typed} is someone else`, () => void invite(typed, true), { "data-testid": "invite-other" });
    fill(result, element("p", { role: "alert" }, sentence), element("div", { class: "line" }, ...same, other));
    same[0]?.focus();
  }
  /**
   * @param {string} expert
   * @param {string[]} links
   */
  function showLink(expert, links) {
    const fields = links.map((link, index) => {
      const field = element("input", { type: "text", class: "link-field", readonly: true, value: link, "aria-label": index === 0 ? `Link for ${expert}` : `The same link by another address`, "data-testid": "invitation-link", on: { focus: () => field.select() } });
      const copied = element("span", { role: "status" });
      const copy = button("Copy", () => void copyText(field).then((isCopied) => say(copied, isCopied ? "Copied." : "Press Ctrl+C to copy.")), { class: "small" });
      return element("div", { class: "line" }, field, copy, copied);
    });
    fill(result, element("p", {}, `Send this link to ${expert}. It works once, within 3 days; whoever opens it answers as ${expert}.`), ...fields,
      links.length > 1 && element("p", { class: "hint" }, "If the first address does not open, try the other."));
    const first = result.querySelector("input");
    first?.focus();
  }
  /** @param {Invitations} told */
  function showList({ invitations }) {
    keepingFocus(list, () => fill(list, ...invitations.map((one) => element("li", {},
      element("b", {}, one.name), element("small", {}, one.state === "open" ? `${STATES.open}, valid until ${timeWords(one.until)}` : STATES[one.state]),
      button("New link", () => void invite(one.name, true), { class: "small", "aria-label": `New link for ${one.name}`, "data-testid": "invite-again" }),
      button("Revoke", () => void revoke(one.name), { class: "small grave", "aria-label": `Revoke the invitation of ${one.name}`, "data-testid": "revoke" })))));
  }
  /** @param {string} expert */
  async function revoke(expert) {
    try {
      showList(await post("/api/invitations/revoke", { name: expert }));
      fill(result, element("p", { role: "status" }, `The link of ${expert} is void, and browsers that it let in are logged out.`));
    } catch (error) {
      say(problem, messageOf(error));
    }
  }
  async function show() {
    const told = await get("/api/invitations").catch(() => null);
    if (!told) return;
    form.hidden = !told.can_invite;
    say(words, told.can_invite ? told.words : `You are here by an invitation, as ${told.me}. Whoever runs kernova can invite others.`);
    showList(told);
  }
  return { node, show };
}

/**
 * Copy the text of a field; pages of other machines may do so with HTTPS only.
 * @param {HTMLInputElement} field
 */
async function copyText(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return false;
  }
}
