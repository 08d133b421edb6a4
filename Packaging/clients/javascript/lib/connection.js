// One connection to a daemon: calls in both directions, and notifications.
import { SdkdError, NotSent, badAnswer, closed, late, refusal } from './error.js';
import { watch } from './wait.js';
import { isObject, text } from './wire.js';

const CANCEL = '$/cancelRequest';

export class Connection {
  #channel;
  #options;
  #onRequest;
  #follows;
  #lastId = 0;
  /** The calls without a response. An abandoned call stays, because an error without an id may concern it. */
  #calls = new Map();
  #answers = new Map();
  #notifications = [];
  #wake = () => {};
  #hasAnswered = false;
  /** The last error without an id that concerns no known call. It explains why the daemon closes the connection. */
  #lastWord;
  /** Whether the daemon may read no further calls on this connection. Responses to earlier ones still come. */
  #takesNoCalls = false;
  #end;
  /** The reasons to keep the process alive. */
  #holds = 0;

  /** `onRequest` answers the daemon's requests; `follows` is whether notifications are taken, and not dropped. */
  constructor(channel, options, { onRequest, follows = false } = {}) {
    this.#channel = channel;
    this.#options = options;
    this.#onRequest = onRequest;
    this.#follows = follows;
    channel.listen((messages) => this.#receive(messages), () => this.#finish(closed()), options.maxLine);
  }

  get isClosed() {
    return this.#end !== undefined;
  }

  /** Whether new calls may use this connection. */
  get takesCalls() {
    return !this.#end && !this.#takesNoCalls;
  }

  #hold(count) {
    this.#holds += count;
    this.#channel.hold(this.#holds > 0);
  }

  // Calls

  /** Returns the result of a method. Throws `SdkdError`; a call that is late or aborted is cancelled at the daemon. */
  async call(method, params, until, signal) {
    signal?.throwIfAborted();
    // The last word concerns an earlier call.
    if (this.#takesNoCalls) throw new NotSent();
    if (this.#end) throw this.#lastWord ?? new NotSent();
    const id = ++this.#lastId;
    const line = text({ id, method, params });
    const waiting = this.#channel.unsent;
    if (waiting > 0 && waiting + line.length > this.#options.maxUnsent) {
      throw new SdkdError('tooManyCalls', 'The daemon does not read: too much waits for it already. Call again later.');
    }
    let end;
    this.#hold(1);
    try {
      return await new Promise((resolve, reject) => {
        const call = { resolve, reject, isUnsent: false };
        this.#calls.set(id, call);
        const giveUp = (error) => {
          this.#notify(CANCEL, { id });
          reject(error);
        };
        end = watch(until, signal, () => giveUp(late()), () => giveUp(signal.reason));
        // A part of a JSON text is no call: what was not written as a whole was not run.
        this.#channel.send(line, () => (call.isUnsent = true));
      });
    } finally {
      end();
      this.#hold(-1);
      if (this.#takesNoCalls) this.retire();
    }
  }

  /** Takes no new calls. The connection ends with the last call in progress. */
  retire() {
    this.#takesNoCalls = true;
    if (this.#holds === 0) this.close();
  }

  #notify(method, params) {
    this.#write({ method, params });
  }

  #write(members) {
    if (!this.#end) this.#channel.send(text(members));
  }

  // Notifications

  /** Returns the next notification, or `undefined` when the time is over. Throws the end of the connection. */
  async notification(until) {
    if (this.#notifications.length === 0 && !this.#end) {
      this.#hold(1);
      await new Promise((resolve) => {
        const end = watch(until, undefined, () => this.#wake());
        this.#wake = () => (end(), resolve());
      });
      this.#wake = () => {};
      this.#hold(-1);
    }
    const first = this.#notifications.shift();
    if (first) {
      if (this.#notifications.length < this.#options.maxEvents) this.#channel.resume();
    } else if (this.#end) {
      throw this.#lastWord ?? this.#end;
    }
    return first;
  }

  /** Waits until the connection has ended. Returns the cause. */
  ended() {
    return this.notification(Infinity).catch((error) => error);
  }

  // Receiving

  #receive(messages) {
    try {
      for (const message of messages) this.#take(message);
    } catch (error) {
      this.#finish(error);
    }
    // The daemon keeps the events that are not read.
    if (this.#notifications.length >= this.#options.maxEvents) this.#channel.pause();
  }

  #take(message) {
    const { id, method, params } = message;
    if (method === undefined) this.#settle(message);
    else if (typeof method !== 'string') throw badAnswer('a method that is not a text.');
    else if (typeof id === 'number' || typeof id === 'string') {
      this.#answer(id, method, params).catch(() => this.#finish(badAnswer('a request with a text that is not Unicode.')));
    } else if (id !== undefined) throw badAnswer('a request whose id is neither a number nor a text.');
    else if (method === CANCEL) this.#answers.get(params?.id)?.abort();
    else if (this.#follows && isObject(params)) {
      this.#notifications.push({ method, params });
      this.#wake();
    }
  }

  #settle({ id, result, error }) {
    if ((id ?? null) === null && error !== undefined) {
      if (this.#calls.size !== 1) {
        this.#lastWord = refusal(error);
        // Before any call, the error refuses the connection.
        if (this.#calls.size === 0 && !this.#hasAnswered) this.close();
        else this.#takesNoCalls = true;
        return;
      }
      // The daemon could not read the id, and it can concern this call only. It may read nothing more on this connection.
      for (const call of this.#calls.values()) call.reject(refusal(error));
      this.#calls.clear();
      return this.#finish(closed());
    } else if (error === undefined && result === undefined) {
      throw badAnswer('a response without result and error.');
    } else {
      this.#hasAnswered = true;
      this.#lastWord = undefined;
    }
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(refusal(error));
  }

  async #answer(id, method, params) {
    const fail = (code, message, reason) => this.#write({ id, error: { code, message, data: { reason } } });
    if (!this.#onRequest) return fail(-32601, `This client answers no ${method}.`, 'methodNotFound');
    if (this.#answers.has(id)) return undefined;
    if (this.#answers.size >= this.#options.maxQuestions) return fail(-32040, 'The delegate is busy.', 'providerFailed');
    const controller = new AbortController();
    this.#answers.set(id, controller);
    const members = await this.#onRequest(method, params, controller.signal);
    // Removed before the response is sent: the daemon may reuse the id as soon as it has the response.
    this.#answers.delete(id);
    return this.#write({ id, ...members });
  }

  // The end

  /** Ends the connection. Calls in progress fail with `connectionClosed`. */
  close() {
    this.#finish(closed());
  }

  #finish(end) {
    if (this.#end) return;
    this.#end = end;
    this.#channel.close();
    // The last word concerns one call, or the connection as a whole. It fails the calls unless there are several and the
    // connection has worked before: then its call is unknown.
    const word = this.#calls.size === 1 || !this.#hasAnswered ? this.#lastWord : undefined;
    for (const call of this.#calls.values()) call.reject(word ?? (call.isUnsent ? new NotSent() : end));
    for (const controller of this.#answers.values()) controller.abort();
    this.#wake();
  }
}
