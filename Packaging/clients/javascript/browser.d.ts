// The client of sdkd for a page, an extension, and other places without sockets.
import type { Client, LimitOptions, Transport } from './index.js';

export * from './methods.js';
export * from './types.js';
export { Denied, LANGUAGES, OutcomeUnknown, SdkdError, sentence } from './index.js';
export type {
  Answering, Attachment, CallOptions, Channel, Client, EventFilter, Events, LimitOptions, Status, Transport,
} from './index.js';

/**
 * Returns the transport over the extension of sdkd, through which a page of an allowed origin reaches the daemon.
 *
 * @param options.patience - the seconds within which the extension must answer: 1
 */
export function extension(options?: { patience?: number }): Transport;

/** Connects to the daemon, by default over the extension. Fails with `SdkdError`. */
export function connect(options?: LimitOptions & { transport?: Transport }): Promise<Client>;
