// The errors of the client.
import { GENERAL, OF_REASON, TEXTS } from './sentences.js';

/** Errors of the client itself after which the same call may be sent again. */
const RETRYABLE = new Set(['noDaemon', 'connectionClosed', 'timeout', 'tooManyCalls']);

const isText = (value) => typeof value === 'string';

export function sentence(reason, language = 'en') {
  const texts = TEXTS[Object.hasOwn(OF_REASON, reason) ? OF_REASON[reason] : GENERAL];
  const code = language.split(/[-_.@]/)[0].toLowerCase();
  return Object.hasOwn(texts, code) ? texts[code] : texts.en;
}

export class SdkdError extends Error {
  constructor(reason, message, { code, data = {}, mayHaveRun = false, cause } = {}) {
    super(message, cause && { cause });
    const { retryAfter, hints, instance, member } = data;
    this.reason = reason;
    this.code = code;
    this.data = data;
    this.retryable = code === undefined ? RETRYABLE.has(reason) : data.retryable === true;
    this.retryAfter = typeof retryAfter === 'number' && retryAfter >= 0 ? Math.min(retryAfter, 86_400) : undefined;
    this.instance = isText(instance) ? instance : undefined;
    this.member = isText(member) ? member : undefined;
    this.hints = Array.isArray(hints) ? hints.filter(isText) : [];
    this.mayHaveRun = mayHaveRun;
  }

  get name() {
    return this.constructor.name;
  }

  sentence(language) {
    return sentence(this.reason, language);
  }
}

export class OutcomeUnknown extends SdkdError {
  constructor(method, what, cause) {
    super('outcomeUnknown', `${what}; whether ${method} was run is not known. Read the state, then decide.`, {
      mayHaveRun: true,
      cause,
    });
  }
}

export class Denied extends Error {}

const CLOSED = 'The daemon closed the connection and has not come back in time; nothing was changed. Call again.';

/** The connection ended before the whole call was sent, so it was not run. */
export class NotSent extends SdkdError {
  constructor() {
    super('connectionClosed', CLOSED);
  }
}

export const closed = () => new SdkdError('connectionClosed', CLOSED);
export const late = () => new SdkdError('timeout', 'The daemon has not answered in time.');
export const clientClosed = () =>
  new SdkdError('clientClosed', 'This client was closed; nothing was sent. Connect again.');
export const badAnswer = (cause) =>
  new SdkdError('badAnswer', `The daemon's message can't be read: ${cause}`, { mayHaveRun: true });

/** Returns the daemon's error object as an exception; an object of another shape as `badAnswer`. */
export function refusal(error) {
  const { code, message, data } = error ?? {};
  if (!Number.isInteger(code) || !isText(message)) return badAnswer('an error without code and message.');
  const known = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : {};
  return new SdkdError(isText(known.reason) ? known.reason : 'unknown', message, { code, data: known });
}

/** Whether a restarting daemon can cause this error. */
export const isRestart = ({ code, reason }) =>
  reason === 'shuttingDown' || (code === undefined && (reason === 'connectionClosed' || reason === 'noDaemon'));

/** Whether reconnecting can restore a subscription or delegate that was lost with this error. */
export function isPassing(error) {
  if (error.code === undefined) return isRestart(error) || error.reason === 'timeout' || error.reason === 'systemError';
  // The daemon may notice the new connection before the end of the old one.
  return error.retryable || error.reason === 'tooManySubscriptions';
}
