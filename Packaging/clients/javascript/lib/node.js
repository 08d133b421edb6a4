// What the package exports in Node.
import { Client } from './client.js';
import { socketTransport } from './socket.js';

export async function connect({ socket, trust, transport, ...options } = {}) {
  if (transport && (socket !== undefined || trust)) {
    throw new TypeError('socket and trust are about the transport over a socket: leave them out');
  }
  return await new Client({ ...options, transport: transport ?? socketTransport(socket, trust) }).connected();
}

export { Denied, OutcomeUnknown, SdkdError, sentence } from './error.js';
export { LANGUAGES } from './sentences.js';
export { automaticSocket, standardTrust, systemSocket, tenantSocket, userSocket } from './socket.js';
