// What the pages of this folder share.
import { connect } from './sdkd/browser.js';

/** Logs an error. Returns its text for the page: a sentence for people, then reason and message for who repairs the kiosk. */
export function report(error) {
  const detail = `${error.reason ?? error.name}: ${error.message}`;
  console.error(detail);
  return [error.sentence?.(navigator.language), `(${detail})`].filter(Boolean).join(' ');
}

/** The attempts that fail silently, a second apart: a browser can load its first page before its extensions. */
const SILENT = 3;

/** Returns a client as soon as there are an extension and a daemon. Other errors need a repair, and are thrown. */
export async function connected(onProblem = report) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect();
    } catch (error) {
      const isFinal = error.reason !== 'noDaemon';
      if (isFinal || attempt > SILENT) onProblem(error);
      if (isFinal) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/**
 * Calls `show` now, and each time that the user of an instance changes: with the name of the user who is signed in, or
 * `undefined`, and with the user. A user whose credential has expired is not signed in, but keeps `id` and `externalId`: show no
 * content of theirs, and let them sign out.
 */
export async function follow(daemon, instance, show) {
  const events = daemon.events({ instances: [instance] });
  await events.start();
  let shown;
  do {
    const user = await daemon.instance.currentUser(instance);
    const name = user.externalId ?? user.id;
    const state = JSON.stringify([user.authenticated, name]);
    if (state === shown) continue;
    shown = state;
    await show(user.authenticated ? name : undefined, user);
  } while (await events.take());
}

/** Returns what your backend signs for the user of an instance. Their token tells the backend who asks. */
export async function signed(daemon, instance, url) {
  const { http } = await daemon.token(instance, { http: true });
  const response = await fetch(url, { headers: http.headers });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.text()).trim();
}
