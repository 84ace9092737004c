/** The page begins here: each part is started, then the session is read. */

import { savedWords } from "./actions.js";
import { startCategories } from "./categories.js";
import { startCurve } from "./curve.js";
import { byId, say } from "./dom.js";
import { startExperts } from "./experts.js";
import { startHelp } from "./help.js";
import { startHistory } from "./history.js";
import { bind, startKeys } from "./keys.js";
import { startLearn } from "./learn.js";
import { startMap } from "./map/map.js";
import { saySaved, sayRefused, startNotices } from "./notices.js";
import { sendLeftovers } from "./outbox.js";
import { startPictureTools } from "./picture_tools.js";
import { startQuestion } from "./question.js";
import { goTo, refreshViews, showView, startRouter } from "./router.js";
import { startStart } from "./start.js";
import { listen, phase, refresh, store } from "./store.js";
import { startTheme } from "./theme.js";
import { counted, whole } from "./words.js";

const VIEW_KEYS = { q: "question", c: "categories", h: "history", m: "map", v: "curve", l: "learn", e: "experts" };

function showProgress() {
  const { state } = store;
  if (!state) return;
  document.body.dataset.version = String(state.version);
  document.body.dataset.state = phase();
  const skipped = state.skipped ? ` (${whole(state.skipped)} skipped)` : "";
  const known = counted(state.categories.length, "category", "categories");
  say(byId("progress-words"), `${counted(state.asked, "question")} asked${skipped}, ${whole(state.named)} of ${whole(state.rows)} rows named, ${known}.`);
}

/** The server may be a moment late, or gone: reading goes on by itself. */
function sessionComes() {
  return new Promise((resolve) => listen("session", resolve));
}

/** Answers that an earlier page could not send go out before anything new is said. */
async function finishLeftovers() {
  for (const { value, reason } of await Promise.allSettled(sendLeftovers(store.session.project))) {
    if (value) saySaved(savedWords(value.saved));
    else sayRefused(reason);
  }
}

async function begin() {
  startTheme();
  startKeys();
  startNotices();
  startQuestion();
  startPictureTools();
  startCategories();
  startHistory();
  startMap();
  startCurve();
  startLearn();
  startExperts();
  for (const [key, view] of Object.entries(VIEW_KEYS)) bind(key, "Go to", view, () => store.expert && goTo(view));
  startHelp();
  startRouter();
  listen("state", showProgress);
  // After all others have heard of it: the views must be in sight by then.
  listen("expert", () => queueMicrotask(refreshViews));
  showView();
  await refresh();
  while (!store.session) await sessionComes();
  await finishLeftovers();
  await startStart();
  showView();
}

void begin();
