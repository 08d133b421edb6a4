// Delegates: a connection that answers the daemon's questions for instances.
import { Denied, SdkdError, clientClosed, isPassing } from './error.js';
import { QUESTIONS } from './methods.js';
import { reconnect } from './retry.js';
import { now, sleep } from './wait.js';
import { isObject, text } from './wire.js';

const UNREAD = 16;

export class Attachment {
  #client;
  #params;
  #answering;
  #onEnd;
  #connection;
  #status = { state: 'detached' };
  #unread = [];
  #wake = () => {};
  #isEnding = false;

  constructor(client, params, answering, onEnd) {
    this.#client = client;
    this.#params = params;
    this.#answering = answering;
    this.#onEnd = onEnd;
  }

  get status() {
    return this.#status;
  }

  async detach() {
    this.#isEnding = true;
    try {
      if (this.#connection && !this.#connection.isClosed) {
        await this.#connection.call('delegate.detach', {}, this.#client.until());
      }
    } finally {
      this.end();
    }
  }

  /** Closes the connection without a call. */
  end() {
    this.#isEnding = true;
    this.#connection?.close();
    this.#tell({ state: 'ended' });
  }

  async next() {
    while (this.#unread.length === 0) {
      if (this.#status.state === 'ended') return { value: undefined, done: true };
      await new Promise((resolve) => (this.#wake = resolve));
    }
    return { value: this.#unread.shift(), done: false };
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  // Keeping it attached

  async begin() {
    try {
      await this.#attach();
    } catch (error) {
      this.#onEnd();
      throw error;
    }
    this.#keep();
  }

  async #attach() {
    const onRequest = (method, params, signal) => this.#answer(method, params, signal);
    const connection = await this.#client.open({ onRequest });
    // Set before the call: `detach` and `end` must reach a connection that is being attached.
    this.#connection = connection;
    try {
      if (this.#isEnding) connection.close();
      await connection.call('delegate.attach', this.#params, this.#client.until());
    } catch (error) {
      // `detach` may wait for its own call on this connection, and closes it then.
      if (!this.#isEnding) {
        connection.close();
        throw error;
      }
    }
    if (this.#isEnding) throw clientClosed();
    this.#tell({ state: 'attached' });
  }

  async #keep() {
    let schedule = reconnect();
    for (;;) {
      const begin = now();
      const loss = await this.#connection.ended();
      // A connection that lasts longer than the longest pause shows a healthy daemon.
      if (now() - begin > schedule.longest) schedule = reconnect();
      if (this.#isEnding) return;
      this.#tell({ state: 'detached', error: loss });
      const refusal = await this.#attachAgain(schedule, loss);
      if (this.#isEnding) return;
      if (refusal) return this.#tell({ state: 'ended', error: refusal });
    }
  }

  /** Attaches again, with pauses. Returns the final refusal, if any. */
  async #attachAgain(schedule, last) {
    while (!this.#isEnding) {
      await sleep(Math.max(schedule.next(Math.random()), last.retryAfter ?? 0));
      try {
        if (!this.#isEnding) await this.#attach();
        return undefined;
      } catch (error) {
        if (!(error instanceof SdkdError) || !isPassing(error)) return error;
        last = error;
      }
    }
    return undefined;
  }

  #tell(status) {
    if (this.#status.state === 'ended') return;
    this.#status = status;
    this.#unread.push(status);
    if (this.#unread.length > UNREAD) this.#unread.shift();
    if (status.state === 'ended') this.#onEnd();
    this.#wake();
  }

  // Questions

  async #answer(method, params, signal) {
    const fail = (code, reason, message) => ({ error: { code, message, data: { reason } } });
    if (!QUESTIONS.has(method) || !isObject(params)) {
      return fail(-32601, 'methodNotFound', `This client answers no ${method}.`);
    }
    // The app has detached it while it was being attached.
    if (this.#isEnding && this.#status.state !== 'attached') return { result: { defer: true } };
    try {
      const result = (await this.#answering(params, signal)) ?? { defer: true };
      text({ result });
      return { result };
    } catch (error) {
      if (error instanceof Denied) return fail(-32040, 'providerDenied', 'The delegate says no.');
      // An error's text belongs to the app and is not sent.
      if (!signal.aborted) console.error('The delegate failed at a question of the daemon.', error);
      return fail(-32040, 'providerFailed', 'The delegate has no answer.');
    }
  }
}
