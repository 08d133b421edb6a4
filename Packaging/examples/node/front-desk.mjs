#!/usr/bin/env node
// A front desk: shows who is signed in at an instance and follows what happens.
//
//     npm install && ./front-desk.mjs front-desk [--delegate PROGRAM]
//
// It continues after restarts of the daemon and sees each event once. It never prints a token, and looking changes nothing:
// no user is created at the vendor.
import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Denied, SdkdError, connect } from 'sdkd';

const NO_TOKEN = [-32010, -32030, -32040]; // The user is gone, or no token can be had now: a state to show.

/** Shows the user, and which headers carry the token. Both calls only read. */
async function show(daemon, instance) {
  const user = await daemon.instance.currentUser(instance);
  if (!user.authenticated) return console.log('please sign in');
  try {
    const token = await daemon.token(instance, { minTTL: 30, http: true });
    const headers = JSON.stringify(Object.keys(token.http.headers).sort());
    return console.log(`user ${user.externalId ?? user.id}, headers ${headers}`);
  } catch (error) {
    if (!NO_TOKEN.includes(error.code)) throw error;
    return console.log(`no token: ${error.reason}`);
  }
}

/** Asks a program of ours for a token. */
const answering = (program) => ({ question, user }, signal) => {
  if (!['getToken', 'invalidAuth'].includes(question)) return undefined;
  return new Promise((resolve, reject) => {
    execFile(program, [user?.externalId ?? ''], { signal }, (error, output) => {
      if (error?.code === 77) reject(new Denied());
      else resolve(error ? undefined : { token: output.trim() });
    });
  });
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { delegate: { type: 'string' } } });
if (positionals.length !== 1) {
  console.error('usage: front-desk.mjs INSTANCE [--delegate PROGRAM]');
  process.exit(64);
}
const [instance] = positionals;
try {
  const daemon = await connect();
  if (values.delegate) await daemon.attach([instance], answering(values.delegate));
  const events = daemon.events({ instances: [instance] });
  await events.start();
  await show(daemon, instance);
  for await (const event of events) { // Keep event.cursor to see also what happens while the app does not run.
    console.log(`event ${event.type} ${event.instance ?? ''}`);
    if (['gap', 'userLoggedIn', 'userLoggedOut', 'identityChanged'].includes(event.type)) await show(daemon, instance);
  }
} catch (error) {
  console.error(error instanceof SdkdError ? `${error.message} (${error.reason})` : error);
  process.exit(1);
}
