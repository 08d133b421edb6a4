// The events of a daemon as they happen.
import { SdkdError, badAnswer, isPassing, isRestart, late } from './error.js';
import { reconnect } from './retry.js';
import { join, now, sleep } from './wait.js';
import { isObject } from './wire.js';

const isText = (value) => typeof value === 'string';

export class Events {
  #client;
  #filters;
  #onStatus;
  #onEnd;
  #status = { isConnected: false };
  #cursor;
  #connection;
  /** The subscription in progress. It outlives a take that ends earlier; the next take waits for it. */
  #beginning;
  #name;
  #isPaused = false;
  #hasBegun = false;
  #isClosed = false;
  #schedule = reconnect();

  constructor(client, { since, onStatus, ...filters }, onEnd) {
    this.#client = client;
    this.#onStatus = onStatus;
    this.#filters = filters;
    this.#cursor = since;
    this.#onEnd = onEnd;
  }

  get cursor() {
    return this.#cursor;
  }

  get status() {
    return this.#status;
  }

  async start() {
    await this.#take(this.#client.until(), true);
  }

  async take(options) {
    // Calls take their deadline in an object, so that both forms are read here.
    const deadline = (typeof options === 'object' ? options?.deadline : options) ?? Infinity;
    return await this.#take(this.#client.until(deadline), false);
  }

  async #take(until, onlyBegins) {
    while (!this.#isClosed) {
      try {
        if (!this.#connection || this.#isPaused) this.#beginning ??= this.#begin();
        if (this.#beginning) await this.#subscribed(until);
        if (onlyBegins) return undefined;
        const message = await this.#connection.notification(until);
        if (!message) return undefined;
        const item = this.#item(message);
        if (item) {
          this.#schedule = reconnect();
          return item;
        }
      } catch (error) {
        if (this.#isClosed || (this.#beginning && !onlyBegins)) return undefined;
        const pause = this.#pause(error);
        const left = until - now();
        await sleep(Math.min(pause, Math.max(left, 0)));
        if (left <= pause) {
          if (onlyBegins) throw error;
          return undefined;
        }
      }
    }
    return undefined;
  }

  async next() {
    const value = await this.take();
    return value ? { value, done: false } : { value, done: true };
  }

  async return(value) {
    this.close();
    return { value, done: true };
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  close() {
    this.end();
  }

  end() {
    this.#isClosed = true;
    this.#drop();
    this.#onEnd();
  }

  /** Waits for the subscription in progress. A failure that no take waited for is thrown by the next one. */
  async #subscribed(until) {
    let isOver = false;
    const subscribed = this.#beginning.finally(() => (isOver = true));
    subscribed.catch(() => {});
    try {
      await join(subscribed, until, undefined, late);
    } finally {
      if (isOver) this.#beginning = undefined;
    }
  }

  /** Subscribes if there is no subscription, and resumes after a gap. */
  async #begin() {
    try {
      if (!this.#connection) {
        const connection = (this.#connection = await this.#client.open({ follows: true }));
        if (this.#isClosed) this.#drop();
        const params = { ...this.#filters, since: this.#cursor };
        const result = await connection.call('events.subscribe', params, this.#client.until());
        if (!isText(result?.cursor)) throw badAnswer('events.subscribe without a cursor.');
        this.#name = result.subscription;
        // Without this cursor, a connection lost before the first event would miss events.
        this.#cursor ??= result.cursor;
        this.#hasBegun = true;
      } else {
        const params = { subscription: this.#name, since: this.#cursor };
        await this.#connection.call('events.resume', params, this.#client.until());
      }
      this.#isPaused = false;
      this.#tell({ isConnected: true });
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  #item({ method, params: { subscription, event, resume, from } }) {
    if (subscription !== this.#name) return undefined;
    if (method === 'events.event' && isObject(event) && isText(event.cursor) && isText(event.type)) {
      this.#cursor = event.cursor;
      return event;
    }
    if (method === 'events.gap' && isText(resume)) {
      this.#cursor = resume;
      this.#isPaused = true;
      return isText(from) ? { type: 'gap', cursor: resume, from } : { type: 'gap', cursor: resume };
    }
    return undefined;
  }

  /** Returns the time to wait before the next connection, or throws the failure when it is final. */
  #pause(failure) {
    this.#drop();
    if (!(failure instanceof SdkdError)) throw failure;
    this.#tell({ isConnected: false, error: failure });
    const wasThere = this.#hasBegun || (isRestart(failure) && this.#client.wasConnected);
    if (!wasThere || !isPassing(failure)) throw failure;
    return Math.max(this.#schedule.next(Math.random()), failure.retryAfter ?? 0);
  }

  /** Tells a change. Further failures of a connection that is reopened are none. */
  #tell(status) {
    const wasTold = status.isConnected ? this.#status.isConnected : this.#status.error !== undefined;
    if (wasTold || this.#isClosed) return;
    this.#status = status;
    try {
      this.#onStatus?.(status);
    } catch (error) {
      console.error('The function that gets the statuses of a connection has failed.', error);
    }
  }

  #drop() {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
