// The transport of a page: the extension of sdkd, which starts a host program for each connection.
import { SdkdError } from './error.js';
import { messagesOf } from './wire.js';

/** The time for the extension to start the host program, and for that to connect, in milliseconds. */
const OPENING = 5000;
/** The most messages that wait while the client is paused. Beyond them the connection ends; events continue by their cursor. */
const LONGEST_QUEUE = 1024;

/** The channel of a message port: a JSON-RPC message each, and messages of the extension itself with a member `sdkd`. */
class PortChannel {
  #port;
  #receive;
  #onEnd;
  #queue = [];
  #isPaused = false;
  #isClosed = false;

  constructor(port) {
    this.#port = port;
    port.onmessage = ({ data }) => this.#take(data);
  }

  listen(receive, onEnd) {
    this.#receive = receive;
    this.#onEnd = onEnd;
    this.#deliver();
    if (this.#isClosed) onEnd();
  }

  #take(data) {
    if (this.#isClosed) return;
    if (data?.sdkd === undefined) this.#queue.push(data);
    else this.#isClosed = true;
    if (this.#queue.length > LONGEST_QUEUE) this.close();
    if (this.#receive && !this.#isPaused) this.#deliver();
    if (this.#isClosed) this.#onEnd?.();
  }

  #deliver() {
    while (this.#queue.length > 0 && !this.#isPaused) this.#receive(messagesOf(this.#queue.shift()));
  }

  get unsent() {
    return 0;
  }

  send(line, onUnsent) {
    if (this.#isClosed) return onUnsent?.();
    return this.#port.postMessage(JSON.parse(line));
  }

  pause() {
    this.#isPaused = true;
  }

  resume() {
    this.#isPaused = false;
    if (!this.#isClosed) this.#deliver();
  }

  hold() {}

  close() {
    this.#isClosed = true;
    this.#port.postMessage({ sdkd: 'close' });
    this.#port.close();
  }
}

/** The transport over the extension of sdkd, which must answer within `patience` seconds. */
export const extension = ({ patience = 1 } = {}) => ({ open: () => open(patience * 1000) });

/** Opens a connection: `hello` comes from the extension at once, then `open` or `refused` from the host program. */
function open(patience) {
  const { port1, port2 } = new MessageChannel();
  let timer;
  return new Promise((resolve, reject) => {
    const fail = (reason, message) => {
      port1.postMessage({ sdkd: 'close' });
      port1.close();
      reject(new SdkdError(reason, message));
    };
    const limit = (time, message) => {
      clearTimeout(timer);
      timer = setTimeout(() => fail('noDaemon', message), time);
    };
    port1.onmessage = ({ data }) => {
      if (data?.sdkd === 'hello') limit(OPENING, 'The host program of sdkd has not answered in time. Call again later.');
      else if (data?.sdkd === 'open') resolve(new PortChannel(port1));
      else fail(data?.reason ?? 'noDaemon', data?.message ?? 'The host program of sdkd has ended. Call again later.');
    };
    limit(
      patience,
      `No extension of sdkd answers on ${location.origin}. Install it, list the origin in browser.json, run sdkctl browser ` +
        'write, and start the browser again. In a private window no extension runs.',
    );
    window.postMessage({ sdkd: 'connect' }, location.origin, [port2]);
  }).finally(() => clearTimeout(timer));
}
