#!/usr/bin/env node
// A service that keeps a chat at edna Chat Center open while a person is signed in at an instance of edna.chatcenter.
//
//     ./edna-desk.mjs front-desk DEVICE
//
// DEVICE is the id of this program's device at edna: a random text that you choose once and keep. The chat is opened again after
// a loss, with a token that sdkd has renewed, and for the next person. Each line of standard input is sent as a message. SIGTERM
// ends the service. It prints no names and no messages.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { SdkdError, connect } from 'sdkd';
import { ChatError, openChat } from './edna-chat.mjs';

const NO_TOKEN = [-32010, -32030, -32040]; // The user is gone, or no token can be had now: a state that passes.
const LONGEST_PAUSE = 30;
const [instance, deviceUid] = process.argv.slice(2);
if (!deviceUid) {
  console.error('usage: edna-desk.mjs INSTANCE DEVICE');
  process.exit(64);
}
let daemon;
let chat;
let shown;
let pause = 1; // Before the next attempt, in seconds.
let changes = 0; // The number of events so far.
let wake = () => {};

function show(line) {
  if (line !== shown) console.log(line);
  shown = line;
}

async function follow(events) {
  while (await events.take()) {
    changes += 1;
    wake();
  }
}

/** Waits until there are more events than these. */
const change = (seen) => new Promise((resolve) => (changes > seen ? resolve() : (wake = resolve)));

/** Whether the chat has the present user and token. Both calls only read. */
async function isPresent() {
  const user = await daemon.instance.currentUser(instance);
  return user.authenticated && user.since === chat.user.since && (await daemon.token(instance)).tokenId === chat.tokenId;
}

/** Keeps a chat open as long as it has the present user and token. */
async function serve() {
  let seen = changes; // Counted before the state is read, so that no change is missed.
  const { authenticated } = await daemon.instance.currentUser(instance);
  if (!authenticated) {
    show('nobody is signed in');
    return await change(seen);
  }
  // Your program shows an agent's message here.
  const onFrame = ({ action }) => console.log(`edna sends ${JSON.stringify(action)?.slice(0, 80)}`);
  chat = await openChat(daemon, instance, deviceUid, { onFrame });
  show(`open, token ${chat.tokenId}`);
  pause = 1;
  do {
    await Promise.race([change(seen), chat.failed]);
    seen = changes;
  } while (await isPresent());
  return undefined;
}

async function desk() {
  for (;;) {
    try {
      await serve();
    } catch (error) {
      const passes = error instanceof SdkdError ? error.retryable || NO_TOKEN.includes(error.code) : error instanceof ChatError;
      if (!passes) throw error;
      show(`closed: ${error.message}`);
      await sleep(1000 * Math.max(pause, error.retryAfter ?? 0));
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    } finally {
      chat?.close();
      chat = undefined;
    }
  }
}

createInterface({ input: process.stdin }).on('line', async (text) => {
  try {
    if (!chat) throw new ChatError('No chat is open.');
    const { status } = await chat.say(text);
    console.log(status);
  } catch (error) {
    console.log(`not sent: ${error.message}`);
  }
});
try {
  const signal = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  daemon = await connect();
  const events = daemon.events({ instances: [instance] });
  await events.start();
  await Promise.race([signal, desk(), follow(events)]);
  await chat?.close();
  process.exit(0);
} catch (error) {
  console.error(error instanceof SdkdError ? `${error.message} (${error.reason})` : error);
  process.exit(1);
}
