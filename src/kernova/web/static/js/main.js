/** The page begins here: each part is started, then the session is read. */

import { savedWords } from "./actions.js";
import { startBatches } from "./batches.js";
import { byId, say } from "./dom.js";
import { startHelp } from "./help.js";
import { bind, startKeys } from "./keys.js";
import { showFailed, showSaved, startNotices } from "./notices.js";
import { sendLeftovers } from "./outbox.js";
import { goTo, refreshViews, showView, startRouter } from "./router.js";
import { startStart } from "./start.js";
import { listen, phase, refresh, store } from "./store.js";
import { startTheme } from "./theme.js";
import { VIEWS } from "./views.js";
import { counted, useNoun, whole } from "./words.js";

/** On a phone, the line that says how far one is has few words. */
const IS_NARROW = matchMedia("(max-width: 30rem)");

function showProgress() {
  const { state } = store;
  if (!state) return;
  document.body.dataset.version = String(state.version);
  document.body.dataset.state = phase();
  const open = [state.skipped ? `${whole(state.skipped)} skipped` : "", state.unsure ? `${whole(state.unsure)} undecided` : ""].filter(Boolean).join(", ");
  const skipped = open ? ` (${open})` : "";
  const known = counted(state.categories.length, "category", "categories");
  const accepted = state.accepted ? ` (${whole(state.accepted)} accepted)` : "";
  const labelled = `${whole(state.named)} of ${IS_NARROW.matches ? whole(state.rows) : counted(state.rows, "row")} labelled${accepted}`;
  say(byId("progress-words"), `${IS_NARROW.matches ? whole(state.asked) : counted(state.asked, "question")} asked${skipped}, ${labelled}, ${known}.`);
}

/**
 * Wait for the session: the server may be slow to start, or gone; the store keeps trying.
 * @returns {Promise<void>}
 */
function sessionComes() {
  return new Promise((resolve) => listen(["session"], resolve));
}

/** Answers that an earlier page could not send are sent before anything new. */
async function finishLeftovers() {
  for (const result of await Promise.allSettled(sendLeftovers(store.session?.project ?? ""))) {
    if (result.status === "fulfilled") showSaved(savedWords(result.value.saved), result.value.saved.warning);
    else showFailed(result.reason);
  }
}

async function begin() {
  // Before all other listeners: what they write is about the user's own noun.
  listen(["session"], () => store.session && useNoun(store.session.noun));
  startTheme();
  startKeys();
  startNotices();
  startBatches();
  startRouter(VIEWS);
  for (const { start } of VIEWS) start();
  for (const { name, key } of VIEWS) bind(key, "Go to", name, () => store.expert && goTo(name));
  startHelp();
  listen(["state"], showProgress);
  IS_NARROW.addEventListener("change", showProgress);
  // After all other listeners: the views must be visible by then.
  listen(["expert"], () => queueMicrotask(refreshViews));
  showView();
  await refresh();
  while (!store.session) await sessionComes();
  await finishLeftovers();
  await startStart();
  showView();
}

void begin();
