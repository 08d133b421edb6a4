// A chat at edna Chat Center for the person who is signed in at an instance, over a WebSocket of this program.
//
// What each frame means, and how sure it is, is in vendors/edna-chatcenter.md.
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws'; // Debian's package node-ws: Node has a WebSocket of its own from version 22 on only.

const LARGEST = 1 << 20; // Of a frame, in bytes.
const PATIENCE = 30_000; // For an answer. In milliseconds, as the others.
const HEARTBEAT = 30_000; // Between two pings. A peer that does not answer one before the next is gone.
const FAREWELL = 2_000; // For edna to close the connection, too.

/** The cause for which a chat has ended, or a frame was refused: not a mistake of this program. */
export class ChatError extends Error {}

/** Returns the frame that a text is. One that can't be read has no members. */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

const words = ({ error, errorDetails }) => [error, errorDetails].filter((word) => typeof word === 'string').join(' ');

/**
 * Opens a session at sdkd, and a chat with its token. `onFrame` gets what edna sends unasked, such as an agent's message.
 * Throws `ChatError`, and the errors of sdkd.
 */
export async function openChat(daemon, instance, deviceUid, { onFrame = () => {}, heartbeat = HEARTBEAT } = {}) {
  const { visible, reason, endpoint, token, user, data } = await daemon.session.open(instance);
  if (!visible) throw new ChatError(`Nothing may be shown: ${reason}.`);
  const { settings } = await daemon.instance(instance);
  const { headers, cookies } = token.http;
  const cookie = Object.entries(cookies).map((pair) => pair.join('=')).join('; ');
  const socket = new WebSocket(endpoint.realtimeUrl, {
    headers: cookie ? { ...headers, Cookie: cookie } : headers,
    handshakeTimeout: PATIENCE,
    maxPayload: LARGEST,
  });
  const waiting = new Map(); // What waits for an answer, by correlation id.
  let isOver = false;
  let isAlive = true;
  let timer;
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  failed.catch(() => {}); // Between two frames nothing waits for it.
  const closed = new Promise((resolve) => socket.once('close', resolve));

  /** Ends the chat. The first cause counts. A refusal of the token is reported to sdkd. */
  async function end(cause, report) {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    socket.close(1000);
    setTimeout(() => socket.terminate(), FAREWELL).unref();
    // If the report is lost, the next chat gets the same token, and the same refusal.
    if (report) await daemon.token.reject(instance, token.tokenId, { ...report, deadline: 10 }).catch(() => {});
    fail(new ChatError(cause));
  }

  const refuse = (text, report) => end(`edna refused the token: ${text}. sdkd was told. Try again with its next token.`, report);

  function beat() {
    if (!isAlive) return end('edna does not answer any more.');
    isAlive = false;
    return socket.ping();
  }

  socket.on('error', ({ message }) => end(`The connection to edna failed: ${message}.`));
  socket.on('close', () => end('edna closed the connection.'));
  socket.on('open', () => (timer = setInterval(beat, heartbeat)));
  socket.on('pong', () => (isAlive = true));
  socket.on('unexpected-response', (_, { statusCode: status }) => {
    if (status === 401) refuse('HTTP status 401', { status });
    else end(`edna refused the connection with the HTTP status ${status}.`);
  });
  socket.on('message', (text) => {
    const frame = parsed(text);
    const result = Object(frame.data);
    const { error: code, errorDetails } = result;
    const answered = waiting.get(frame.correlationId);
    // This refusal needs no correlation id, and can come at any time: it is about the whole connection.
    if (code === 'UNAUTHORIZED') refuse(words(result), { code, description: words({ errorDetails }) });
    else if (answered) answered(result);
    else onFrame(frame);
  });

  /** Sends a frame. Returns the `data` of its answer. */
  async function send(action, members) {
    const correlationId = randomUUID();
    const late = setTimeout(() => end(`edna has not answered ${action} in time.`), PATIENCE);
    const answer = new Promise((answered) => waiting.set(correlationId, answered));
    try {
      if (!isOver) socket.send(JSON.stringify({ action, correlationId, data: members }));
      const result = await Promise.race([answer, failed]);
      if (result.error) throw new ChatError(`edna refused ${action}: ${words(result)}.`);
      return result;
    } finally {
      clearTimeout(late);
      waiting.delete(correlationId);
    }
  }

  try {
    await Promise.race([new Promise((opened) => socket.once('open', opened)), failed]);
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
    return {
      user,
      tokenId: token.tokenId,
      failed, // Rejects with the cause when the chat ends.
      say: (text) => say('MESSAGE', { text }),
      close: () => (end('This program closed the chat.'), closed),
    };
  } catch (error) {
    end(error.message);
    throw error;
  }
}
