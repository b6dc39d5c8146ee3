// Requests to our own server. An error carries the server's message, which names the next step.
import { set, state } from "./store.js";

/** Said on the window when the server answers again: who waits to try again, tries at once. */
export const ANSWERED = "oracle:answered";

export class ApiError extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** Where a token is kept for servers that ask for one; it ends with the tab. */
const TOKEN = "oracle.token";

export function withToken(headers = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
}

/** One stream that is answered does not make an interrupted run go on; news of it does. */
export function hearConnection(connection, hasNews) {
  if (connection === "up" && !hasNews && state.connection === "interrupted") return;
  if (state.connection !== connection) set({ connection });
}

export const hasToken = () => Boolean(sessionStorage.getItem(TOKEN));
export const keepToken = (token) => sessionStorage.setItem(TOKEN, token);

export async function request(path, { method = "GET", body, signal } = {}) {
  const headers = withToken(body === undefined ? {} : { "Content-Type": "application/json" });
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (problem) {
    if (problem.name !== "AbortError") set({ connection: "gone" });
    throw problem;
  }
  // A run that nobody works on yet is not taken up because another request was answered.
  if (state.connection !== "up" && state.connection !== "interrupted") {
    set({ connection: "up" });
    dispatchEvent(new Event(ANSWERED));
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

export const get = async (path, options) => (await request(path, options)).json();
export const post = async (path, body = {}) => (await request(path, { method: "POST", body })).json();

export async function errorOf(response) {
  let told = {};
  try {
    told = (await response.json()).error ?? {};
  } catch {
    // Not ours, or not JSON: the status is all there is.
  }
  if (response.status === 401) set({ dialog: "token" });
  return new ApiError(response.status, told.kind ?? "HttpError", told.message ?? `the server answered ${response.status}`);
}
