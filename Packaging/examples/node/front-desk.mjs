#!/usr/bin/env node
// A front desk: shows who is signed in at an instance, follows what happens, and signs people in and out.
//
//     npm install && ./front-desk.mjs front-desk [--tokens PROGRAM]
//
// PROGRAM stands for your backend: PROGRAM NAME prints the JWT of a person. With it, the lines `in NAME` and `out` on standard
// input sign in and out, and the daemon gets new tokens here. The desk shows each event once, also over restarts of the daemon,
// and says when the daemon is away. It never prints a token, and looking creates no user at the vendor.
import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Denied, SdkdError, connect } from 'sdkd';

const NO_TOKEN = [-32010, -32030, -32040]; // The user is gone, or no token can be had now: a state to show.
const { values, positionals } = parseArgs({ allowPositionals: true, options: { tokens: { type: 'string' } } });
if (positionals.length !== 1) {
  console.error('usage: front-desk.mjs INSTANCE [--tokens PROGRAM]');
  process.exit(64);
}
const [instance] = positionals;
let daemon;
let attachment;
let isAway = false;
let shown = '';
let cursor; // Keep it in a file to see also what happens while the desk does not run.

function show(line) {
  if (line !== shown) console.log(line);
  shown = line;
}

/** Shows the user, and which headers carry the token. Both calls only read. */
async function read() {
  const { user, state } = await daemon.instance(instance);
  const name = user.externalId ?? user.id;
  if (!user.authenticated) return show(state === 'reauthNeeded' ? `please sign in again, ${name}` : 'please sign in');
  try {
    const token = await daemon.token(instance, { http: true });
    return show(`user ${name}, headers ${JSON.stringify(Object.keys(token.http.headers).sort())}`);
  } catch (error) {
    if (!NO_TOKEN.includes(error.code)) throw error;
    return show(`no token: ${error.reason}`);
  }
}

/** Says that the daemon is away. When it is back, says again what held before: events tell what is new. */
function onStatus({ error }) {
  if (error && !isAway) console.log(`offline: ${error.sentence()}`);
  else if (isAway && !error && shown) console.log(shown);
  isAway = error !== undefined;
}

async function follow() {
  daemon ??= await connect();
  // Attached again by itself after each restart.
  if (values.tokens) attachment ??= await daemon.attach([instance], answer);
  const events = daemon.events({ instances: [instance], since: cursor, onStatus });
  await events.start();
  await read();
  for await (const event of events) {
    cursor = event.cursor;
    console.log(`event ${event.type} ${event.instance ?? ''}`);
    await read(); // After every event: a user can expire, be locked or be replaced, too.
  }
}

const token = async (name, signal) => (await promisify(execFile)(values.tokens, [name], { signal })).stdout.trim();

async function answer({ question, user }, signal) {
  if (!['getToken', 'invalidAuth'].includes(question) || !user) return undefined;
  return await token(user.externalId ?? '', signal).then(
    (text) => ({ token: text }),
    (error) => {
      if (error.code === 77) throw new Denied();
      return undefined;
    },
  );
}

async function signOut() {
  try {
    await daemon.messaging.logoutUser(instance);
  } catch (error) {
    if (error.reason !== 'network') throw error;
    await daemon.messaging.logoutUser(instance, { localOnly: true }); // The next person needs the desk.
  }
}

async function command(line) {
  const [word, name] = line.trim().split(' ');
  if (!daemon) return;
  try {
    if (word === 'in') await daemon.messaging.loginUser(instance, await token(name));
    else if (word === 'out') await signOut();
  } catch (error) {
    console.log(`${word} failed: ${error.sentence?.() ?? error.message} (${error.reason ?? error.code})`);
  }
}

createInterface({ input: process.stdin }).on('line', command);
for (;;) {
  try {
    await follow();
  } catch (error) {
    if (!(error instanceof SdkdError && error.retryable)) {
      console.error(error instanceof SdkdError ? `${error.message} (${error.reason})` : error);
      process.exit(1);
    }
    onStatus({ error });
    await setTimeout(1000 * (error.retryAfter ?? 1));
  }
}
