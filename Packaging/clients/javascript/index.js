// A client of sdkd, the daemon that keeps users signed in to customer-support chat services. See index.d.ts for the documentation.
// Node has one copy of the classes, whether a program imports or requires them.
import sdkd from './index.cjs';

export const { Denied, LANGUAGES, OutcomeUnknown, SdkdError, connect, sentence } = sdkd;
export const { automaticSocket, standardTrust, systemSocket, tenantSocket, userSocket } = sdkd;
