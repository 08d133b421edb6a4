// The policy of retries. Nothing here waits or reads a clock.
import { OutcomeUnknown } from './error.js';

/** A schedule of pauses between attempts: each is twice the one before, up to `longest` seconds. */
export class Schedule {
  #pause = 0.01;
  #left;

  constructor(limit, longest = 0.5) {
    this.#left = limit;
    this.longest = longest;
  }

  /** Returns the next pause, or `undefined` when the pauses would exceed the limit. `random` is from 0 to 1. */
  next(random) {
    if (this.#left <= 0) return undefined;
    const pause = Math.min(Math.min(this.#pause, this.longest) * (0.5 + 0.5 * random), this.#left);
    this.#left -= pause;
    this.#pause = Math.min(this.#pause * 2, this.longest);
    return pause;
  }
}

/** Returns the schedule for the lost connection of a subscription or a delegate, which never ends. */
export const reconnect = () => new Schedule(Infinity, 2);

/** The decisions about one call: whether a failed attempt is repeated, and after which pause. */
export class Attempts {
  #method;
  #isRead;
  #schedule;
  #patience;

  constructor(method, isRead, retry, rateLimitPatience) {
    this.#method = method;
    this.#isRead = isRead;
    this.#schedule = new Schedule(retry);
    this.#patience = rateLimitPatience;
  }

  /**
   * Returns the pause before the next attempt, or throws the error with which the call ends. `wasSent` is whether the
   * daemon may have received the call. `wasConnected` is whether a connection existed before: only then can a missing
   * daemon be one that restarts.
   */
  pause(failure, wasSent, wasConnected, random) {
    const { code, reason } = failure;
    let again;
    if (code === undefined) {
      if (wasSent && !this.#isRead && reason !== 'noDaemon') {
        const cause = reason === 'timeout' ? 'has not answered in time' : 'closed the connection without an answer';
        throw new OutcomeUnknown(this.#method, `The daemon ${cause}`, failure);
      }
      failure.mayHaveRun = false;
      again = reason === 'connectionClosed' || (reason === 'noDaemon' && wasConnected);
    } else {
      // The daemon has not run the call to its end, and it is safe to send it again.
      again = reason === 'shuttingDown' || reason === 'tooManyInFlight';
      if (reason === 'rateLimit' && this.#isRead) {
        const wait = failure.retryAfter ?? 1;
        if (wait > this.#patience) throw failure;
        this.#patience -= wait;
        return wait;
      }
    }
    const pause = again ? this.#schedule.next(random) : undefined;
    if (pause === undefined) throw failure;
    return pause;
  }
}
