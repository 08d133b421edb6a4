// Waiting with a deadline. Times are in seconds, of a clock that never jumps.

/** The longest time of a timer of Node, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

export const now = () => performance.now() / 1000;

/** Calls `onLate` at `until`, and `onAbort` when the signal is aborted. Returns the function that ends both. */
export function watch(until, signal, onLate, onAbort) {
  let timer;
  const arm = () => {
    const left = Math.max(0, (until - now()) * 1000);
    timer = setTimeout(left > LONGEST ? arm : onLate, Math.min(left, LONGEST));
  };
  if (until !== Infinity) arm();
  signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
}

/** Waits for a promise that others wait for too. Throws `late()` at `until`, and the signal's reason. */
export function join(promise, until, signal, late) {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const end = watch(until, signal, () => reject(late()), () => reject(signal.reason));
    promise.then(resolve, reject).finally(end);
  });
}

/** Waits. Throws the signal's reason. */
export function sleep(seconds, signal) {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const end = watch(now() + seconds, signal, () => (end(), resolve()), () => (end(), reject(signal.reason)));
  });
}
