// Appended to the JavaScript snippets of app-guide.md: calls what they define. The argument is a file with a JWT; SANDBOX mints tokens.
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

async function waitFor(what, condition) {
  const limit = Date.now() + 50_000;
  while (!(await condition())) {
    ok(Date.now() < limit, `not in time: ${what}`);
    await pause(20);
  }
}

// A refused request is sent once more, and for the same user only.
const statuses = [401, 200];
strictEqual(await fetchAs(daemon, () => statuses.shift()), 200);
strictEqual(statuses.length, 0);
// The second refusal comes within `refresh.min_interval` of the check that the first one has led to.
statuses.push(401, 200);
strictEqual(await fetchAs(daemon, () => statuses.shift()), 200);
strictEqual(statuses.length, 0);
const jwt = readFileSync(process.argv[2], 'utf8').trim();
const sent = [];
await rejects(
  fetchAs(daemon, async (headers) => {
    sent.push(Object.keys(headers));
    await signOut(daemon);
    await signIn(daemon, jwt);
    return 401;
  }),
  /Another user/,
);
deepStrictEqual(sent, [['Authorization']]);

// Events and questions, each on a connection of its own.
const [seen, asked] = [[], []];
const mint = (externalId) => {
  asked.push(externalId);
  return execFileSync(process.env.SANDBOX, ['mint', '--external-id', externalId], { encoding: 'utf8' }).trim();
};
let updates = 0;
follow(new Daemon(), (event) => seen.push(event.type)).catch(() => {});
await waitFor('an event', async () => {
  await daemon.call('instance.update', { instance: 'front-desk', labels: { n: `${(updates += 1)}` } });
  return seen.includes('instanceUpdated');
});
answer(new Daemon(), mint).catch(() => {});
await waitFor('the delegate', () => seen.includes('delegateAttached'));
strictEqual((await daemon.call('token.refresh', { instance: 'front-desk' })).fromCache, false);
deepStrictEqual(asked, ['alice']);
await signOut(daemon);
await waitFor('the logout', () => seen.includes('userLoggedOut'));
strictEqual((await currentUser(daemon)).authenticated, false);
await rejects(daemon.call('token.get', { instance: 'front-desk' }), { reason: 'notAuthenticated' });
console.log('all snippets were run');
process.exit(0);
