// What several screens share: the state of the session, read from the engine.

import { signal } from "../vendor/signals.js";
import { call } from "./engine.js";

/** What is open: the table, the model, whether a fit runs. */
export const session = signal(null);
/** Counts changes of the table, so that screens read it again. */
export const dataVersion = signal(0);

export async function refresh() {
  session.value = await call("session");
  return session.value;
}

/** Tells the screens that the table has changed. */
export async function dataChanged() {
  dataVersion.value += 1;
  await refresh();
}
