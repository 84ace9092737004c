/** Requests to the server, and the two ways in which they fail. */

import { worded } from "./words.js";

/** @typedef {import("./types.js").GetCalls} GetCalls */
/** @typedef {import("./types.js").PostCalls} PostCalls */
/** @typedef {Object<string, string|number|null|undefined>} CallParameters */

const TIMEOUT_MS = 30_000;

/** The server rejected the request: its sentence is the message. */
export class RequestError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {Object<string, string>|null} [fields]
   */
  constructor(status, code, message, fields) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields ?? {};
  }
}

/** No answer came: the same request may be sent again. */
export class Unreachable extends Error {}

/**
 * Get JSON.
 * @template {keyof GetCalls} P
 * @param {P} path as the server's schema has it
 * @param {Partial<GetCalls[P]["parameters"]>} [parameters] values for the path's braces; all others go into the query
 * @returns {Promise<GetCalls[P]["reply"]>}
 */
export async function get(path, parameters = {}) {
  return (await request("GET", address(path, /** @type {CallParameters} */ (parameters)))).json();
}

/**
 * Get numbers in binary.
 * @param {string} path
 * @returns {Promise<{buffer: ArrayBuffer, version: number}>} the buffer, and the version of the state it belongs to
 */
export async function getNumbers(path) {
  const response = await request("GET", path);
  return { buffer: await response.arrayBuffer(), version: Number(response.headers.get("X-Kernova-Version")) };
}

/**
 * Get a picture whose headers matter.
 * @param {string} path
 * @returns {Promise<{address: string, headers: Headers}>} an address for it, to be revoked, and the headers
 */
export async function getPicture(path) {
  const response = await request("GET", path);
  return { address: URL.createObjectURL(await response.blob()), headers: response.headers };
}

/**
 * Send JSON, get JSON. What changes the project goes through the outbox instead.
 * @template {keyof PostCalls} P
 * @param {P} path
 * @param {PostCalls[P]["body"]} body
 * @returns {Promise<PostCalls[P]["reply"]>}
 */
export async function post(path, body) {
  return (await request("POST", path, body)).json();
}

/**
 * Send JSON that the outbox keeps; everything that it sends is answered alike.
 * @param {string} method
 * @param {string} path
 * @param {object} body
 * @returns {Promise<import("./types.js").SavedReply>}
 */
export async function send(method, path, body) {
  return (await request(method, path, body)).json();
}

/**
 * Log in with the token, in the body of the request: an address would be remembered.
 * @param {string} token
 * @returns {Promise<void>}
 */
export async function logIn(token) {
  await answered("/login", { method: "POST", body: new URLSearchParams({ token }) });
}

/**
 * Fill in the braces of a path; what has none goes into the query.
 * @param {string} path
 * @param {CallParameters} parameters
 */
export function address(path, parameters) {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined) continue;
    if (path.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
function request(method, path, body) {
  if (body === undefined) return answered(path, { method });
  return answered(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function answered(path, options) {
  let response;
  try {
    response = await fetch(path, {
      ...options,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new Unreachable("The server is not responding.");
  }
  if (!response.ok) throw await requestError(response);
  return response;
}

/** @param {Response} response */
async function requestError(response) {
  /** @type {Partial<import("./types.js").Fault>} */
  let fault = {};
  try {
    fault = (await response.json()).error ?? {};
  } catch {
    // Something in between answered in a format of its own.
  }
  const message = fault.message ?? `The server rejected the request (status ${response.status}).`;
  return new RequestError(response.status, fault.code ?? String(response.status), message, fault.fields);
}

/**
 * Give the sentence of an error, whatever was thrown.
 * @param {unknown} error
 */
export function messageOf(error) {
  return worded(error instanceof Error ? error.message : String(error));
}
