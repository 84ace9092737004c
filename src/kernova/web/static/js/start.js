/** The start: who is answering, and how far preparation is. */

import { get, messageOf, post } from "./api.js";
import { button, byId, element, fill, say } from "./dom.js";
import { keep, kept } from "./kept.js";
import { showFailed } from "./notices.js";
import { goTo } from "./router.js";
import { listen, phase, preparation, store, update } from "./store.js";
import { counted, listed, worded } from "./words.js";

/**
 * The name that an invitation has bound to this browser.
 * @type {string|null}
 */
let invitedAs = null;

/** Make the form work, and continue at once where the name is known from an earlier visit. */
export async function startStart() {
  byId("start-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void comeIn(nameInput().value).then((isIn) => isIn && goTo("question"));
  });
  byId("expert-button").addEventListener("click", comeAgain);
  listen(["session", "state", "expert", "question"], show);
  show();
  invitedAs = (await get("/api/invitations").catch(() => null))?.me ?? null;
  const name = invitedAs ?? kept("expert", "sessionStorage") ?? kept("expert");
  nameInput().value = name ?? "";
  if (name) await comeIn(name);
  else nameInput().focus();
}

function nameInput() {
  return byId("expert-name", HTMLInputElement);
}

/**
 * @param {string} typed
 * @param {boolean} isSame whether a doubt about the name has been answered
 * @returns {Promise<boolean>}
 */
async function comeIn(typed, isSame = false) {
  const name = typed.trim();
  byId("start-doubt").hidden = true;
  if (!name) {
    say(byId("start-problem"), "Please enter a name.");
    return false;
  }
  try {
    const { name: expert, doubt } = await post("/api/experts", { name, is_same: isSame });
    if (doubt) return askAbout(expert, doubt);
    // In the tab's own storage, too: two experts may use one browser in two tabs.
    keep("expert", expert, "localStorage");
    keep("expert", expert, "sessionStorage");
    say(byId("start-problem"), "");
    update({ expert, question: null, isAsked: false });
    return true;
  } catch (error) {
    say(byId("start-problem"), messageOf(error));
  }
  return false;
}

/**
 * Ask whether a name is the right one: it is in use elsewhere, or looks like another.
 * @param {string} name
 * @param {import("./types.js").Doubt} doubt
 */
function askAbout(name, { kind, words, names }) {
  const box = byId("start-doubt");
  nameInput().value = name;
  /** @type {(one: string, isSame: boolean) => void} */
  const go = (one, isSame) => void comeIn(one, isSame).then((isIn) => isIn && goTo("question"));
  const another = () => {
    box.hidden = true;
    nameInput().focus();
    nameInput().select();
  };
  // Who picks the other name may still be asked whether it is in use elsewhere.
  const same = names.map((one) => button(`Yes, continue as ${one}`, () => go(one, one === name), { class: "primary", "data-testid": "doubt-same" }));
  const other = kind === "alike" ? button(`No, I am ${name}`, () => go(name, true), { "data-testid": "doubt-other" }) : button("Choose another name", another, { "data-testid": "doubt-another" });
  fill(box, element("p", {}, words), element("div", { class: "line" }, ...same, other));
  box.hidden = false;
  (same[0] ?? other).focus();
  return false;
}

function comeAgain() {
  if (invitedAs !== null) return showFailed(new Error(`You are here by an invitation, as ${invitedAs}. Ask for another link to work under another name.`), "The name stays");
  keep("expert", null, "sessionStorage");
  update({ expert: "", question: null, isAsked: false });
  nameInput().focus();
  nameInput().select();
}

function show() {
  const now = phase();
  document.body.dataset.state = now;
  byId("view-start").hidden = now !== "starting";
  for (const view of byId("desk").children) view.toggleAttribute("hidden", now === "starting");
  byId("expert-button").hidden = now === "starting";
  byId("expert-button").title = "Change name";
  say(byId("expert-button"), store.expert);
  byId("expert-button").setAttribute("aria-label", `You are ${store.expert}. Change name.`);
  showSession();
  showPreparation();
}

function showSession() {
  const { session } = store;
  if (!session) return;
  say(byId("data-name"), session.data.split(/[\\/]/).at(-1) ?? "");
  byId("data-name").title = session.data;
  const experts = session.experts.map(({ name }) => name).filter(Boolean);
  const here = experts.length > 0 ? ` Experts so far: ${listed(experts)}.` : "";
  fill(byId("known-experts"), ...experts.map((name) => element("option", { value: name })));
  const again = session.is_resumed ? " Earlier answers were loaded: you continue where they stop." : "";
  say(byId("start-words"), `${counted(session.rows, "row")} from ${byId("data-name").textContent}. ${worded("The program chooses rows and you label them, until no new categories turn up.")}${again}${here}`);
  if (byId("start-notes").childElementCount === 0) {
    fill(byId("start-notes"), ...session.notes.map((note) => element("li", {}, worded(note))));
  }
}

function showPreparation() {
  const { state, task, done, total, left, message } = preparation();
  showRest();
  const box = byId("preparation");
  box.hidden = !store.session || state === "ready";
  if (box.hidden) return;
  const isFailed = state === "failed";
  say(byId("preparation-words"), isFailed ? `Preparation failed. ${message}` : preparationWords(task, done, total, left));
  box.classList.toggle("failed", isFailed);
  byId("preparation-hint").hidden = isFailed;
  const bar = byId("preparation-bar");
  bar.hidden = isFailed;
  if (total > 0) Object.assign(bar, { max: total, value: done });
  else bar.removeAttribute("value");
}

/**
 * @param {string} task
 * @param {number} done
 * @param {number} total
 * @param {string} left
 */
function preparationWords(task, done, total, left) {
  const what = task ? worded(`Preparing: ${task}`) : `Preparing ${counted(store.session?.rows ?? 0, "row")}`;
  if (left) return `${what}, ${left}.`;
  return total > 0 ? `${what}, ${Math.floor((100 * done) / total)} %` : `${what} …`;
}

/** While questions come from a sample, the rest is prepared: nobody waits for it, but it is stated. */
function showRest() {
  const { state, is_complete: isComplete, left } = preparation();
  const line = byId("rest-words");
  line.hidden = !store.expert || state !== "ready" || isComplete;
  const rows = counted(store.session?.rows ?? 0, "row");
  say(line, line.hidden ? "" : `Questions come from a sample while all ${rows} are being prepared${left ? `: ${left}` : ""}.`);
}
