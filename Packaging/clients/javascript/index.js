// A client of sdkd, the daemon that keeps users signed in to customer-support chat services. See index.d.ts for the documentation.
export { connect } from './lib/client.js';
export { Denied, OutcomeUnknown, SdkdError } from './lib/error.js';
export { automaticSocket, standardTrust, systemSocket, tenantSocket, userSocket } from './lib/socket.js';
