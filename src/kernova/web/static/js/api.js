/** Requests to the server, and the two ways in which they fail. */

const PATIENCE_MS = 30_000;

/** The server answered, and said no: its sentence is the message. */
export class Refusal extends Error {
  constructor(status, code, message, fields) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields ?? {};
  }
}

/** No answer came: the same request may be sent again. */
export class Unreachable extends Error {}

/** Ask for JSON. */
export async function get(path, options = {}) {
  return (await reply("GET", path, undefined, options)).json();
}

/** Ask for numbers in binary: gives the buffer, and the version it belongs to. */
export async function getNumbers(path) {
  const response = await reply("GET", path);
  return { buffer: await response.arrayBuffer(), version: Number(response.headers.get("X-Kernova-Version")) };
}

/** Ask for a picture whose headers matter: gives an address for it, to be revoked, and the headers. */
export async function getPicture(path) {
  const response = await reply("GET", path);
  return { address: URL.createObjectURL(await response.blob()), headers: response.headers };
}

/** Send JSON, get JSON. Whatever changes something goes through the outbox, which calls this. */
export async function send(method, path, body) {
  const response = await reply(method, path, body);
  return response.status === 204 ? {} : response.json();
}

async function reply(method, path, body, { signal } = {}) {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable("The server does not answer.");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // Something in between answered in its own words.
  }
  const message = error.message ?? `The server refused with status ${response.status}.`;
  return new Refusal(response.status, error.code ?? String(response.status), message, error.fields);
}
