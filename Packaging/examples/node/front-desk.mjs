#!/usr/bin/env node
// A front desk: shows who is signed in at an instance and follows what happens.
//
//     npm install && ./front-desk.mjs front-desk [--delegate PROGRAM]
//
// It goes on over restarts of the daemon and sees each event once. Tokens are never printed.
import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Denied, SdkdError, connect } from 'sdkd';

const NO_USER = -32010; // Nobody is signed in, or has to sign in again: a state to show.

async function show(daemon, instance) {
  try {
    const { visible, reason, user, endpoint, token } = await daemon.session.open(instance, { minTTL: 30 });
    if (!visible) return console.log(`no session: ${reason}`);
    const headers = JSON.stringify(Object.keys(token?.http?.headers ?? {}).sort());
    const name = user.externalId ?? user.id ?? 'a guest';
    return console.log(`user ${name}, endpoint ${endpoint.baseUrl ?? '-'}, headers ${headers}`);
  } catch (error) {
    if (error.code !== NO_USER) throw error;
    return console.log(`no session: ${error.reason}`);
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
