#!/usr/bin/env node
// A front desk: shows who is signed in at an instance and follows what happens.
//
//     SDKD_SOCKET=/run/sdkd/sdkd.sock ./front-desk.mjs front-desk [--delegate PROGRAM]
//
// It needs the standard library only. It continues after restarts of the daemon and sees each event once. It never prints a
// token, and looking changes nothing: no user is created at the vendor.
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const PASSING = new Set(['shuttingDown', 'rateLimit', 'tooManyInFlight', 'tooManySubscriptions', 'storeUnavailable']);

/** An error that the daemon returned. `reason` is its stable name; the message says what to do. */
class DaemonError extends Error {
  constructor({ code, message, data = {} }) {
    super(message);
    Object.assign(this, { code, reason: data.reason, retryAfter: data.retryAfter ?? 0 });
  }
}

/** There is no connection, or it ended without an answer. */
class ConnectionLost extends Error {}

/** One connection: calls, events, and the daemon's questions. */
class Connection {
  #socket;
  #answer;
  #lastId = 0;
  #waiting = new Map();
  #questions = new Map();
  #queue = [];
  #wake = () => {};
  #isOver = false;

  static open(path, answer) {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('error', (error) => reject(new ConnectionLost(error.message)));
      socket.once('connect', () => resolve(new Connection(socket, answer)));
    });
  }

  constructor(socket, answer) {
    this.#socket = socket;
    this.#answer = answer;
    socket.on('error', () => {}); // 'close' follows.
    socket.once('close', () => this.#end());
    createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => this.#take(line));
  }

  /** Returns the result of a method. Throws a DaemonError for an error, ConnectionLost if there is no answer. */
  call(method, params = {}, timeout = 30_000) {
    if (this.#isOver) return Promise.reject(new ConnectionLost('the connection has ended'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        this.#send({ method: '$/cancelRequest', params: { id } });
        reject(new ConnectionLost(`${method} was not answered in time`));
      }, timeout);
      this.#waiting.set(id, (settle) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        settle(resolve, reject);
      });
      this.#send({ id, method, params });
    });
  }

  /** The notifications of the daemon, in order, until the connection ends. */
  async *notifications() {
    for (;;) {
      while (this.#queue.length) yield this.#queue.shift();
      if (this.#isOver) return;
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  close() {
    this.#socket.destroy();
  }

  #send(message) {
    if (!this.#isOver) this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return this.close();
    }
    const { id, method, params, result, error } = message;
    if (method === undefined) {
      this.#waiting.get(id)?.((resolve, reject) => (error ? reject(new DaemonError(error)) : resolve(result)));
    } else if (id !== undefined) {
      this.#reply(id, params);
    } else if (method === '$/cancelRequest') {
      this.#questions.get(params.id)?.abort(); // The answer is no longer needed.
    } else {
      this.#queue.push({ method, params });
      if (this.#queue.length > 4096) this.close(); // They are not handled fast enough: reconnect with the cursor.
      this.#wake();
    }
  }

  async #reply(id, question) {
    const controller = new AbortController();
    this.#questions.set(id, controller);
    let reply = { result: { defer: true } }; // The next delegate, or the provider, may have an answer.
    try {
      if (this.#answer) reply = await this.#answer(question, controller.signal);
    } catch (error) {
      console.error(`delegate: ${error.code ?? error.name}`);
    }
    this.#questions.delete(id);
    this.#send({ id, ...reply });
  }

  #end() {
    this.#isOver = true;
    for (const settle of [...this.#waiting.values()]) {
      settle((_, reject) => reject(new ConnectionLost('the daemon closed the connection without an answer')));
    }
    for (const controller of this.#questions.values()) controller.abort();
    this.#wake();
  }
}

/** A program that shows the user and follows the events of one instance. */
class FrontDesk {
  #cursor; // Keep it in a file to see also what happens while this program is not running.

  constructor(path, instance, delegate) {
    Object.assign(this, { path, instance, delegate });
  }

  /** Follows until the program ends. Connects again after a loss, with growing pauses. */
  async run() {
    for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
      let connection;
      try {
        const answer = this.delegate && ((question, signal) => this.#token(question, signal));
        connection = await Connection.open(this.path, answer);
        if (this.delegate) await connection.call('delegate.attach', { instances: [this.instance] });
        const filter = { instances: [this.instance], ...(this.#cursor && { since: this.#cursor }) };
        const { cursor } = await connection.call('events.subscribe', filter);
        this.#cursor ??= cursor;
        await this.#show(connection);
        pause = 50;
        await this.#follow(connection);
      } catch (error) {
        const passes = error instanceof ConnectionLost || PASSING.has(error.reason);
        if (!passes) throw error;
        console.error(`waiting: ${error.message}`);
        pause = Math.max(pause, (error.retryAfter ?? 0) * 1000);
      } finally {
        connection?.close();
      }
      await sleep(pause * (0.5 + Math.random() / 2));
    }
  }

  /** Shows the user, and which headers carry the token. Both calls only read. */
  async #show(connection) {
    const { instance } = this;
    const user = await connection.call('instance.currentUser', { instance });
    if (!user.authenticated) return console.log('please sign in');
    try {
      const token = await connection.call('token.get', { instance, minTTL: '30s', http: true });
      const headers = JSON.stringify(Object.keys(token.http.headers).sort());
      console.log(`user ${user.externalId ?? user.id}, headers ${headers}`);
    } catch (error) {
      if (![-32010, -32030, -32040].includes(error.code)) throw error;
      console.log(`no token: ${error.reason}`); // The user is gone, or no token can be had now: a state to show.
    }
  }

  async #follow(connection) {
    for await (const { method, params } of connection.notifications()) {
      if (method === 'events.event') {
        const { type, instance, cursor } = params.event;
        console.log(`event ${type} ${instance}`);
        this.#cursor = cursor; // After the event was handled, not before.
        if (['userLoggedIn', 'userLoggedOut', 'identityChanged'].includes(type)) await this.#show(connection);
      } else if (method === 'events.gap') {
        console.log('gap: events were missed, so the state is read again');
        this.#cursor = params.resume;
        await this.#show(connection);
        await connection.call('events.resume', { subscription: params.subscription, since: this.#cursor });
      } else if (method === 'daemon.closing') {
        console.log('daemon is closing'); // The connection ends next; run() connects again.
      }
    }
  }

  /** Answers `delegate.getToken` and `delegate.invalidAuth` with the output of a program. */
  #token({ question, user }, signal) {
    const pass = { result: { defer: true } };
    if (!['getToken', 'invalidAuth'].includes(question)) return pass;
    return new Promise((resolve) => {
      execFile(this.delegate, [user?.externalId ?? ''], { signal }, (error, output) => {
        if (error?.code === 77) {
          resolve({ error: { code: -32040, message: 'This user is denied.', data: { reason: 'providerDenied' } } });
        } else {
          resolve(error || !output.trim() ? pass : { result: { token: output.trim() } });
        }
      });
    });
  }
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { delegate: { type: 'string' } } });
if (positionals.length !== 1) {
  console.error('usage: front-desk.mjs INSTANCE [--delegate PROGRAM]');
  process.exit(64);
}
const path = process.env.SDKD_SOCKET ?? '/run/sdkd/sdkd.sock';
try {
  await new FrontDesk(path, positionals[0], values.delegate).run();
} catch (error) {
  console.error(error instanceof DaemonError ? `${error.message} (${error.reason})` : error.message);
  process.exit(1);
}
