#!/usr/bin/env node
// Sends a message of the person who is signed in at an instance of edna.chatcenter.
//
//     ./edna-message.mjs front-desk DEVICE TEXT
//
// DEVICE is the id of this program's device at edna: a random text that you choose once and keep. What each frame means, and
// how sure it is, is in vendors/edna-chatcenter.md.
import { randomUUID } from 'node:crypto';
import { connect } from 'sdkd';
// Node 22 has WebSocket. Node 20.10 or later has it with --experimental-websocket. For others: import WebSocket from 'ws';

const [instance, deviceUid, text] = process.argv.slice(2);
if (!text) {
  console.error('usage: edna-message.mjs INSTANCE DEVICE TEXT');
  process.exit(64);
}
const daemon = await connect();
const { visible, reason, endpoint, token, user, data } = await daemon.session.open(instance);
if (!visible) throw new Error(`No chat: ${reason}`);
const { settings } = await daemon.instance(instance);

const socket = new WebSocket(endpoint.realtimeUrl, { headers: token.http.headers });
const waiting = new Map(); // What waits for an answer, by correlation id.
socket.addEventListener('message', (message) => {
  const { correlationId, data } = JSON.parse(message.data);
  waiting.get(correlationId)?.answered(data ?? {}); // Other frames are the vendor's own, such as an agent's message.
});
await new Promise((opened, failed) => {
  socket.addEventListener('open', opened);
  socket.addEventListener('close', () => {
    const error = new Error('The vendor closed the connection.');
    failed(error);
    for (const each of waiting.values()) each.failed(error);
  });
  socket.addEventListener('error', failed);
});

/** Sends a frame. Returns the `data` of its answer. */
async function send(action, data) {
  const correlationId = randomUUID();
  const answer = new Promise((answered, failed) => {
    waiting.set(correlationId, { answered, failed });
    setTimeout(() => failed(new Error(`${action}: no answer`)), 30_000).unref();
  });
  socket.send(JSON.stringify({ action, correlationId, data }));
  const { error, errorDetails, ...result } = await answer.finally(() => waiting.delete(correlationId));
  if (!error) return result;
  if (error === 'UNAUTHORIZED') {
    await daemon.token.reject(instance, token.tokenId, { code: error, description: errorDetails });
  }
  throw new Error(`${action}: ${error} ${errorDetails ?? ''}`);
}

try {
  const { clientId } = endpoint;
  const { deviceAddress } = await send('registerDevice', {
    clientId,
    deviceUid,
    providerUid: settings.provider_uid,
    appPackage: 'front-desk',
    appVersion: '1.0',
    osName: 'linux',
    osVersion: 'linux',
    locale: 'en',
    timeZone: 'UTC',
    deviceName: 'front-desk',
    deviceModel: 'linux',
    apiVersion: 19,
  });
  const say = (type, members) => {
    const content = { type, clientId, appMarker: settings.app_marker, ...members };
    return send('sendMessage', { deviceAddress, important: false, content });
  };
  await say('INIT_CHAT', { data });
  await say('CLIENT_INFO', {
    data,
    name: user.name,
    preRegister: false,
    authorized: true,
    clientIdIsEncrypted: settings.identifier_public_key !== undefined, // Or what your backend says in `auth.isEncrypted`.
    chatApiVersion: 19,
    libVersion: '1.0',
  });
  const { status } = await say('MESSAGE', { text });
  console.log(status);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  socket.close();
  daemon.close();
}
