// The engine behind the page. Only this file knows that it is reached over HTTP: an engine in
// WebAssembly would offer the same functions.

import { signal } from "../vendor/signals.js";

const TOKEN = "mercer-token";

/** Whether the engine refuses calls for want of the token. */
export const locked = signal(false);

/** Takes the token from the address, where the command puts it, and removes it from there. */
export function takeToken() {
  const found = /^#token=([\w\-.~+/=]+)$/.exec(location.hash);
  if (found) {
    setToken(found[1]);
    history.replaceState(null, "", location.pathname + "#/data");
  }
}

/** Keeps the token for this tab. */
export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
  locked.value = false;
}

/** The error of a call, with the message of the engine. */
export class EngineError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

function headers(type) {
  const token = sessionStorage.getItem(TOKEN);
  return { ...(type && { "Content-Type": type }), ...(token && { Authorization: `Bearer ${token}` }) };
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new EngineError("The studio does not answer. Is the command still running?", 0);
  }
  if (response.ok) return response;
  if (response.status === 401) locked.value = true;
  const answer = await response.json().catch(() => ({}));
  throw new EngineError(answer.error || `The request failed (${response.status}).`, response.status);
}

/** Makes a call: a name and a message, both plain data. Returns the answer or throws an EngineError. */
export async function call(name, message = {}, { signal: abort } = {}) {
  const body = JSON.stringify({ ...message, call: name });
  const options = { method: "POST", headers: headers("application/json"), body, signal: abort };
  return (await request("/studio/call", options)).json();
}

/** Gives the engine the bytes of a table, to be kept in its memory. */
export async function openFile(file) {
  const path = `/studio/data?name=${encodeURIComponent(file.name)}`;
  const options = { method: "POST", headers: headers("application/octet-stream"), body: file };
  return (await request(path, options)).json();
}

/** The bytes of the trained model. */
export async function modelFile() {
  return (await request("/studio/model", { headers: headers() })).blob();
}

/**
 * Makes calls of one kind of which only the latest answer matters, such as while a slider moves: one call runs at a
 * time, and of those that come meanwhile only the last is made.
 */
export function latest(name, onAnswer, onError = () => {}) {
  let running = false;
  let waiting = null;
  async function run(message) {
    running = true;
    try {
      const answer = await call(name, message);
      if (!waiting) onAnswer(answer);
    } catch (error) {
      if (!waiting) onError(error);
    }
    running = false;
    if (waiting) {
      const next = waiting;
      waiting = null;
      run(next);
    }
  }
  return (message) => (running ? (waiting = message) : run(message));
}
