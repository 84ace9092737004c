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
import { counted, whole } from "./words.js";

function showProgress() {
  const { state } = store;
  if (!state) return;
  document.body.dataset.version = String(state.version);
  document.body.dataset.state = phase();
  const skipped = state.skipped ? ` (${whole(state.skipped)} skipped)` : "";
  const known = counted(state.categories.length, "category", "categories");
  say(byId("progress-words"), `${counted(state.asked, "question")} asked${skipped}, ${whole(state.named)} of ${whole(state.rows)} rows labelled, ${known}.`);
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
  startTheme();
  startKeys();
  startNotices();
  startBatches();
  startRouter(VIEWS);
  for (const { start } of VIEWS) start();
  for (const { name, key } of VIEWS) bind(key, "Go to", name, () => store.expert && goTo(name));
  startHelp();
  listen(["state"], showProgress);
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
