// Questions to the server. A Failure says what went wrong, and what one can do.

export class Failure extends Error {
  // refused: another question may be answered.
  constructor(title, text, refused = false) {
    super(text);
    Object.assign(this, { title, refused });
  }
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/[.\s]+$/, "")}.`;

async function get(path, parameters, signal) {
  const address = new URL(path, document.baseURI);
  address.hash = "";
  address.search = new URLSearchParams(parameters);
  let response;
  let body = null;
  try {
    response = await fetch(address, { signal, headers: { accept: "application/json" } });
    body = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (!response) throw new Failure("The server does not answer", "Check that it is still running, then ask again.");
  }
  if (response.ok && body !== null) return body;
  const said = sentence(body?.error ?? `it answered with status ${response.status}`);
  if (response.status < 500) throw new Failure("This can’t be answered", said, true);
  if (response.status === 503) throw new Failure("The server is busy", said);
  throw new Failure("The server failed", `${said} Its log may say more.`);
}

export const stores = (signal) => get("stores", {}, signal);

export const keys = (store, prefix, limit, signal) => get("keys", { store, prefix, limit }, signal);

// Keys of several columns are asked for column by column; the answer may then hold more keys than were asked for. The
// name of a column alone means null.
export function query({ store, aggregate, start, end, points, columns, keys: chosen }, signal) {
  const pair = (column, value) => (value === null ? column : `${column}=${value}`);
  const pairs = new Set(chosen.flatMap((key) => columns.map((column, k) => pair(column, key[k]))));
  const parameters = [["store", store], ["start", start], ["end", end], ["points", points], ["times", "us"]];
  parameters.push(...[...pairs].map((one) => ["key", one]), ["aggregate", aggregate]);
  return get("query", parameters, signal);
}
