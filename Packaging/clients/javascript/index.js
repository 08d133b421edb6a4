// A client of sdkd, the daemon that keeps users signed in to customer-support chat services. See index.d.ts for the documentation.
export { connect } from './lib/client.js';
export { Denied, OutcomeUnknown, SdkdError, sentence } from './lib/error.js';
export { LANGUAGES } from './lib/sentences.js';
export { automaticSocket, standardTrust, systemSocket, tenantSocket, userSocket } from './lib/socket.js';
