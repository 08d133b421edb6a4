// JSON texts on lines.
import { badAnswer } from './error.js';

const NEWLINE = 10;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Splits a byte stream into lines of at most `limit` bytes. */
export class Lines {
  #limit;
  #pieces = [];
  #size = 0;

  constructor(limit) {
    this.#limit = limit;
  }

  /** Yields the messages of the lines that end in `data`. Throws `SdkdError` for a line that can't be read. */
  *feed(data) {
    let start = 0;
    for (let end; (end = data.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
      this.#append(data.subarray(start, end));
      const line = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#size = 0;
      yield* messages(line);
    }
    this.#append(data.subarray(start));
  }

  #append(piece) {
    this.#size += piece.length;
    if (this.#size > this.#limit) throw badAnswer(`a line has more than ${this.#limit} bytes.`);
    if (piece.length > 0) this.#pieces.push(piece);
  }
}

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function* messages(line) {
  let value;
  try {
    const text = decoder.decode(line);
    if (!text.trim()) return;
    value = JSON.parse(text);
  } catch {
    throw badAnswer('it is not a JSON text.');
  }
  yield* messagesOf(value);
}

/** Yields the messages in a JSON value. Throws `SdkdError` for what is none. */
export function* messagesOf(value) {
  for (const message of Array.isArray(value) ? value : [value]) {
    if (!isObject(message)) throw badAnswer('it is not a JSON-RPC message.');
    yield message;
  }
}

/** How `JSON.stringify` writes half of a surrogate pair. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** Returns a message as a line. Throws `TypeError` for what JSON can't hold. */
export function text(members) {
  const line = `${JSON.stringify({ jsonrpc: '2.0', ...members })}\n`;
  if (LONE_SURROGATE.test(line)) throw new TypeError('A text contains a lone surrogate, half of a character. Remove it.');
  return line;
}
