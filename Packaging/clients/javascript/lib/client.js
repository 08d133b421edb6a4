// The client.
import { Connection } from './connection.js';
import { Attachment } from './delegate.js';
import { NotSent, SdkdError, clientClosed, isRestart, late } from './error.js';
import { Events } from './events.js';
import { METHODS } from './methods.js';
import { Attempts } from './retry.js';
import { join, now, sleep } from './wait.js';

const CONNECT_TIMEOUT = 5;

const DEFAULTS = {
  deadline: 120,
  retry: 5,
  rateLimitPatience: 0,
  maxCalls: 1024,
  maxUnsent: 8 << 20,
  maxLine: 64 << 20,
  maxEvents: 256,
  maxQuestions: 64,
};

function checked(options) {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(DEFAULTS, name)) throw new TypeError(`${name} is not an option of the client`);
    const least = name.startsWith('max') ? 1 : 0;
    if (!(value >= least)) throw new RangeError(`${name} must be at least ${least}, not ${value}`);
  }
  return options;
}

/** Returns the methods by namespace. A namespace with `get` can be called. */
function namespaces(client) {
  const found = {};
  for (const [name, { isRead, required }] of Object.entries(METHODS)) {
    const [space, short] = name.split('.');
    found[space] ??= {};
    found[space][short] = (...values) => {
      const { deadline, signal, ...params } = values[required.length] ?? {};
      required.forEach((param, index) => (params[param] = values[index]));
      return client.call(name, params, { read: isRead, deadline, signal });
    };
  }
  found.events = Object.assign((filter) => client.follow(filter), found.events);
  for (const [space, methods] of Object.entries(found)) {
    if (methods.get) found[space] = Object.assign((...values) => methods.get(...values), methods);
  }
  return found;
}

export class Client {
  #transport;
  #options;
  #wasConnected = false;
  #connection;
  /** Earlier connections that still have calls in progress. */
  #retired = [];
  #opening;
  #calls = 0;
  #parts = new Set();
  #isClosed = false;

  constructor({ transport, ...options }) {
    this.#transport = transport;
    this.#options = { ...DEFAULTS, ...checked(options) };
    Object.assign(this, namespaces(this));
  }

  /** Calls a method by its name, and repeats it where that is safe. */
  async call(method, params = {}, { read = METHODS[method]?.isRead ?? false, deadline, signal } = {}) {
    if (this.#calls >= this.#options.maxCalls) {
      throw new SdkdError('tooManyCalls', `${this.#calls} calls wait already. Call again when some have returned.`);
    }
    this.#calls += 1;
    try {
      return await this.#repeat(method, params, read, this.until(deadline), signal);
    } finally {
      this.#calls -= 1;
    }
  }

  async #repeat(method, params, isRead, until, signal) {
    const attempts = new Attempts(method, isRead, this.#options.retry, this.#options.rateLimitPatience);
    for (;;) {
      let connection;
      let failure;
      try {
        connection = await this.#shared(until, signal);
        return await connection.call(method, params, until, signal);
      } catch (error) {
        if (!(error instanceof SdkdError)) throw error;
        failure = error;
      }
      const wasSent = connection && !(failure instanceof NotSent) && failure.reason !== 'tooManyCalls';
      // A draining daemon answers nothing more on this connection.
      if (connection && (!connection.takesCalls || isRestart(failure))) this.#forget(connection);
      const pause = attempts.pause(failure, wasSent, this.#wasConnected, Math.random());
      // Throw the actual cause now: after the pause only a timeout would be left to throw.
      if (now() + pause >= until) throw failure;
      await sleep(pause, signal);
    }
  }

  follow(filter = {}) {
    const events = new Events(this, filter, () => this.#parts.delete(events));
    this.#parts.add(events);
    return events;
  }

  async attach(instances, answer, { timeout } = {}) {
    const attachment = new Attachment(this, { instances, timeout }, answer, () => this.#parts.delete(attachment));
    this.#parts.add(attachment);
    await attachment.begin();
    return attachment;
  }

  close() {
    this.#isClosed = true;
    for (const part of [...this.#parts]) part.end();
    for (const connection of [this.#connection, ...this.#retired]) connection?.close();
  }

  // What events and delegates use.

  /** Returns the time at which a call that begins now ends. */
  until(deadline = this.#options.deadline) {
    if (typeof deadline !== 'number' || Number.isNaN(deadline)) throw new TypeError('deadline must be a number');
    return now() + deadline;
  }

  /** Whether a connection existed before. */
  get wasConnected() {
    return this.#wasConnected;
  }

  async #shared(until, signal) {
    signal?.throwIfAborted();
    if (this.#connection?.takesCalls) return this.#connection;
    if (this.#connection) this.#forget(this.#connection);
    this.#opening ??= this.open()
      .then((connection) => {
        if (this.#isClosed) connection.close();
        return (this.#connection = connection);
      })
      .finally(() => (this.#opening = undefined));
    this.#opening.catch(() => {}); // Each call that waits throws it.
    return await join(this.#opening, until, signal, late);
  }

  /** Uses a connection for no further calls. Calls in progress on it continue. */
  #forget(connection) {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    connection.retire();
    this.#retired = [...this.#retired, connection].filter((other) => !other.isClosed);
  }

  /** Opens a connection. The transport decides which server is trusted. */
  async open(handlers) {
    if (this.#isClosed) throw clientClosed();
    const until = now() + CONNECT_TIMEOUT;
    for (let pause = 0.001; ; pause = Math.min(pause * 2, 0.1)) {
      const channel = await this.#transport.open();
      if (channel) {
        this.#wasConnected = true;
        return new Connection(channel, this.#options, handlers);
      }
      if (now() + pause >= until) throw late();
      await sleep(pause);
    }
  }

  async connected() {
    await this.#shared(this.until());
    return this;
  }
}

if (Symbol.dispose) {
  Client.prototype[Symbol.dispose] = Client.prototype.close;
}
