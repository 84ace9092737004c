/** The way in: who is answering, and how far preparation is. */

import { send } from "./api.js";
import { byId, element, fill, say } from "./dom.js";
import { keep, kept } from "./kept.js";
import { goTo } from "./router.js";
import { listen, phase, preparation, store, update } from "./store.js";
import { counted, listed, whole } from "./words.js";

/** Make the form work, and come in at once where the name is known from before. */
export async function startStart() {
  byId("start-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void comeIn(byId("expert-name").value).then((isIn) => isIn && goTo("question"));
  });
  byId("expert-button").addEventListener("click", comeAgain);
  listen("session state expert question", show);
  show();
  const name = kept("expert", "sessionStorage") ?? kept("expert");
  byId("expert-name").value = name ?? "";
  if (name) await comeIn(name);
  else byId("expert-name").focus();
}

async function comeIn(typed) {
  const name = typed.trim();
  if (!name) {
    say(byId("start-problem"), "Please give a name.");
    return false;
  }
  try {
    const { name: expert } = await send("POST", "/api/experts", { name });
    // The tab's own name first: two experts may share a browser in two tabs.
    for (const storage of ["localStorage", "sessionStorage"]) keep("expert", expert, storage);
    say(byId("start-problem"), "");
    update({ expert, question: null, isAsked: false });
    return true;
  } catch (error) {
    say(byId("start-problem"), error.message);
  }
  return false;
}

function comeAgain() {
  keep("expert", null, "sessionStorage");
  update({ expert: "", question: null, isAsked: false });
  byId("expert-name").focus();
  byId("expert-name").select();
}

function show() {
  const now = phase();
  document.body.dataset.state = now;
  byId("view-start").hidden = now !== "starting";
  for (const view of document.querySelectorAll(".desk .view")) view.hidden = now === "starting";
  byId("expert-button").hidden = now === "starting";
  byId("expert-button").title = "Change the name";
  say(byId("expert-button"), store.expert);
  byId("expert-button").setAttribute("aria-label", `You are ${store.expert}. Change the name.`);
  showSession();
  showPreparation();
}

function showSession() {
  const { session } = store;
  if (!session) return;
  say(byId("data-name"), session.data.split(/[\\/]/).at(-1));
  byId("data-name").title = session.data;
  const experts = (session.experts ?? []).map(({ name }) => name).filter(Boolean);
  const here = experts.length > 0 ? ` Here so far: ${listed(experts)}.` : "";
  fill(byId("known-experts"), ...experts.map((name) => element("option", { value: name })));
  const again = session.is_resumed ? " Earlier answers are here: you go on where it stopped." : "";
  say(byId("start-words"), `${whole(session.rows)} rows of ${byId("data-name").textContent}. The program chooses rows, you name them, until nothing new turns up.${again}${here}`);
  if (byId("start-notes").childElementCount === 0) {
    fill(byId("start-notes"), ...(session.notes ?? []).map((note) => element("li", {}, note)));
  }
}

function showPreparation() {
  const { state, task, done, total, message } = preparation();
  const box = byId("preparation");
  box.hidden = !store.session || state === "ready";
  if (box.hidden) return;
  const isFailed = state === "failed";
  say(byId("preparation-words"), isFailed ? `Preparation failed. ${message ?? ""}` : preparationWords(task, done, total));
  box.classList.toggle("failed", isFailed);
  byId("preparation-hint").hidden = isFailed;
  const bar = byId("preparation-bar");
  bar.hidden = isFailed;
  if (total > 0) Object.assign(bar, { max: total, value: done });
  else bar.removeAttribute("value");
}

function preparationWords(task, done, total) {
  const what = task ? `Preparing: ${task}` : `Preparing ${counted(store.session.rows, "row")}`;
  return total > 0 ? `${what}, ${Math.floor((100 * done) / total)} %` : `${what} …`;
}
