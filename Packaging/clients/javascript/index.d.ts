// A client of sdkd, the daemon that keeps users signed in to customer-support chat services. Times are in seconds.
import type { EventsMethods, Methods } from './methods.js';
import type { Answer, DelegateQuestion, EventType, Item, Reason } from './types.js';

export * from './methods.js';
export * from './types.js';

/** What every call takes. */
export interface CallOptions {
  /** The time limit, retries included; by default that of the client. */
  deadline?: number;
  /** Ends the waiting, and cancels the call at the daemon. */
  signal?: AbortSignal;
}

/** One connection to the daemon, for a transport of your own. */
export interface Channel {
  /**
   * Called once. Give `receive` the messages that come, in their order, and call `onEnd` when no more come. A message longer
   * than `maxLine` bytes must end the channel.
   */
  listen(receive: (messages: Iterable<object>) => void, onEnd: () => void, maxLine: number): void;
  /** The number of bytes that were sent and not yet taken; 0 if that is not known. */
  readonly unsent: number;
  /** Sends a message: a JSON text with a newline at its end. Call `onUnsent` if it surely was not sent as a whole. */
  send(line: string, onUnsent?: () => void): void;
  /** Asks for no more messages until `resume`, which may be called at any time. */
  pause(): void;
  resume(): void;
  /** Whether the process must stay alive for this channel. */
  hold(isNeeded: boolean): void;
  close(): void;
}

/** The way to the daemon: where the client runs without sockets, or reaches the daemon over something else. */
export interface Transport {
  /**
   * Opens a connection to a daemon that is trusted, always the same one. Fails with `SdkdError`; its reason `noDaemon` is what
   * a restarting daemon causes. Returns `undefined` to be asked again soon.
   */
  open(): Promise<Channel | undefined>;
}

/** Deadlines, retries and limits of a client. */
export interface LimitOptions {
  /** The time limit of a call that sets none, retries included: 120. `Infinity` for no limit. */
  deadline?: number;
  /** The time for which calls that were not run, and reads whose answer was lost, are sent again: 5. */
  retry?: number;
  /** The longest time that a read over the daemon's rate limit waits in total: 0. */
  rateLimitPatience?: number;
  /** The maximum number of calls in progress: 1024. One more fails with `tooManyCalls`. */
  maxCalls?: number;
  /** The maximum number of bytes that wait for the daemon to read them: 8 MiB. */
  maxUnsent?: number;
  /** The maximum number of bytes in a line of the daemon: 64 MiB. A longer one ends the connection. */
  maxLine?: number;
  /** The number of events from which on the client does not read, and the daemon keeps the events: 256. */
  maxEvents?: number;
  /** The maximum number of questions that a delegate answers at a time: 64. Others pass it by. */
  maxQuestions?: number;
}

/** What a client in Node takes. */
export interface ClientOptions extends LimitOptions {
  /** The path of the socket; by default see `automaticSocket`. */
  socket?: string;
  /** Another way to the daemon than a socket. */
  transport?: Transport;
  /** The rule for the sockets to trust, by their paths without links; by default `standardTrust`. */
  trust?: (path: string) => boolean;
}

/** The reason why a call gave no result. `message` says what happened and what to do next. */
export class SdkdError extends Error {
  /** The stable name to program against: the daemon's own reason, or one of this client. */
  readonly reason: Reason;
  /** The error's code in JSON-RPC; absent for errors of this client. */
  readonly code?: number;
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;
  /** The seconds to wait before another attempt, if the daemon gives them; at most a day. */
  readonly retryAfter?: number;
  /** The instance that the error is about. */
  readonly instance?: string;
  /** The path of the member that the error is about. */
  readonly member?: string;
  /** Possible causes. */
  readonly hints: string[];
  /** Whether a failed write may have been run. Only then can sending it again do it twice. */
  readonly mayHaveRun: boolean;
  /** All that the daemon says about the error: `httpStatus`, `vendorCode`, `reference` and the like. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Returns what to show to the person before the app; see the function `sentence`. */
  sentence(language?: string): string;
}

/**
 * Returns what to show to the person before the app after an error or event with this reason, such as "Please sign in again."
 *
 * @param language - a tag such as `de`, `fr-CA` or `ru_RU.UTF-8`; English unless given, and for languages not in `LANGUAGES`
 */
export function sentence(reason: string, language?: string): string;
/** The languages of the sentences. */
export const LANGUAGES: string[];

/** A write was sent and got no answer: whether it was run is unknown. Read the state before sending it again. */
export class OutcomeUnknown extends SdkdError {}

/** Thrown by a delegate to refuse for good. The SDK's own consequence follows, such as a logout. */
export class Denied extends Error {}

/** The events to deliver; all that is given must match. */
export interface EventFilter {
  instances?: string[];
  labels?: Record<string, string>;
  types?: EventType[];
  /** Begins after this cursor instead of now. */
  since?: string;
  /** Called with each change of the connection's status, such as to show that the daemon is away. */
  onStatus?: (status: ConnectionStatus) => void;
}

/** The status of the connection over which events arrive. */
export interface ConnectionStatus {
  /** Whether the events are subscribed. Otherwise the client connects, for the first time or again. */
  isConnected: boolean;
  /** The reason why the connection was lost or could not be opened; absent while it is open, and before the first attempt. */
  error?: SdkdError;
}

/**
 * The events as they happen, over a connection of its own, for one reader.
 *
 * A lost connection is reopened, and the events continue after the last one taken, without repetition. Where the daemon no
 * longer keeps an event, an item of type `gap` comes: read the state again before you take the next item. Each item has a
 * `cursor`: give it as `since` to continue there later.
 */
export interface Events extends AsyncIterableIterator<Item> {
  /** The cursor of the last item taken. Before the first item: where the subscription began. */
  readonly cursor: string | undefined;
  /** The status of the connection. A loss is noticed while an item is awaited. */
  readonly status: ConnectionStatus;
  /** Subscribes now instead of with the first item. If you call it before you read the state, you miss nothing after that. */
  start(): Promise<void>;
  /** Returns the next item, or `undefined` when `deadline` seconds have passed or the iterator was closed. */
  take(deadline?: number | { deadline?: number }): Promise<Item | undefined>;
  /** Ends the iteration. */
  close(): void;
}

/** The status of a delegate's attachment. */
export interface Status {
  /** `attached`; `detached` while a lost connection is reopened; `ended` when no more questions come. */
  state: 'attached' | 'detached' | 'ended';
  /** The reason of the loss, or of the end; absent for a delegate that was detached on purpose. */
  error?: SdkdError;
}

/** Answers a question, or passes it on with `undefined`. The signal is aborted when the answer is no longer needed. */
export type Answering = (
  question: DelegateQuestion,
  signal: AbortSignal,
) => Answer | undefined | null | Promise<Answer | undefined | null>;

/** The attachment of a delegate. Iterate over it to follow its statuses, of which the latest 16 are kept. */
export interface Attachment extends AsyncIterableIterator<Status> {
  /** The current status. */
  readonly status: Status;
  /**
   * Detaches the delegate: the daemon asks it no more and does not wait for its return. While the connection is lost,
   * the daemon can't be told, and waits for the delegate up to `delegate.grace`.
   */
  detach(): Promise<void>;
}

/**
 * A client of the daemon.
 *
 * Calls share one connection, which is reopened when it was lost. While the daemon restarts, reads are sent again, and
 * writes that surely were not run. A write that may have been run fails with `OutcomeUnknown`.
 */
export interface Client extends Methods {
  /** The events as they happen, and the methods `events.…`. */
  readonly events: EventsMethods & ((filter?: EventFilter) => Events);
  /** Calls a method by its name. `read` says whether it may be sent again; by default what the contract says. */
  call(method: string, params?: object, options?: CallOptions & { read?: boolean }): Promise<unknown>;
  /**
   * Attaches a delegate, which answers the instances' questions until it is detached.
   *
   * @param answer - may throw `Denied` to refuse for good; any other error is written with `console.error`, and passes the
   *   question on
   * @param options.timeout - the time for an answer, from 0.1 to 60; 10 by default
   */
  attach(instances: string[], answer: Answering, options?: { timeout?: number }): Promise<Attachment>;
  /** Closes the client. Its calls, events and delegates end. */
  close(): void;
}

/** Connects to the daemon. Fails with `SdkdError`. */
export function connect(options?: ClientOptions): Promise<Client>;

/** Returns the path in `SDKD_SOCKET`, else the user's socket if it exists, else the system's. */
export function automaticSocket(): string;
/** Returns the path of the machine's daemon. */
export function systemSocket(): string;
/** Returns the path of the current user's daemon. */
export function userSocket(): string;
/** Returns the path of a tenant's daemon. */
export function tenantSocket(name: string): string;
/**
 * Whether the socket and all directories above it belong to root, the caller or the user `sdkd`, and others can't change
 * them. A socket of root outside of sdkd's directories is trusted by root alone.
 */
export function standardTrust(path: string): boolean;
