internal import DequeModule
public import JSONRPC

/// The requests of a connection that run or wait, and the rules for accepting more.
///
/// A value without clock, tasks or I/O: its functions record events and return what to do. `Call` represents an
/// accepted request; tests use strings.
public struct ConnectionState<Call> {
  /// The identifier of an accepted request, unique within the connection.
  public struct Ticket: Hashable, Sendable {
    let number: UInt64
  }

  /// A request to be run now.
  public struct Start {
    /// The identifier to pass to `finish`.
    public let ticket: Ticket
    /// The call to run.
    public let call: Call
  }

  /// A request that was removed and still needs its response.
  public struct Departure {
    /// The request's id, which its response carries.
    public let id: RPCID
    /// The call, which has run or never will.
    public let call: Call
    /// The destination of the response.
    public let destination: AnswerDestination
    /// The request as it was received, for a connection that is handed over.
    let request: RPCRequest?
  }

  /// The state in which a cancellation found its request.
  public enum Cancellation {
    /// No request with this id is in progress.
    case unknown
    /// The request was waiting and has been removed: abandon it and answer `cancelled`.
    case waiting(Departure)
    /// The request is running: cancel its task, which responds.
    case running(Ticket)
  }

  private struct Entry {
    let departure: Departure
    let bytes: Int
    var isRunning: Bool
  }

  /// The limits of the connection. Lower ones don't affect requests that were accepted before.
  public var limits: TransportLimits
  private var entries: [Ticket: Entry] = [:]
  private var tickets: [RPCID: Ticket] = [:]
  private var order: Deque<Ticket> = []
  private var lastNumber: UInt64 = 0
  var batches = BatchAnswers<Call>()

  /// The number of running requests.
  public private(set) var runningCount = 0
  /// The bytes of the frames of waiting requests.
  public private(set) var queuedBytes = 0
  /// Whether new requests are answered `shuttingDown`.
  public private(set) var isDraining = false
  /// Whether the input has ended: the peer sends nothing more, or nothing more is read from it.
  public private(set) var isInputEnded = false

  /// Makes the state of a new connection.
  public init(limits: TransportLimits) { self.limits = limits }

  /// The number of requests that run or wait.
  public var count: Int { entries.count }

  /// Whether no request is in progress and no batch is incomplete.
  public var isIdle: Bool { entries.isEmpty && batches.isEmpty }

  /// Returns the reason why a request, or a notification without `id`, can't be accepted; `nil` if it can.
  ///
  /// Changes nothing, but the compiler would copy the whole state for a function that isn't `mutating`.
  public mutating func refusal(of id: RPCID?, bytes: Int) -> RPCError? {
    if let id, tickets[id] != nil { return .idInProgress }
    if isDraining { return .shuttingDown }
    let isFull = runningCount >= limits.maxInFlight && queuedBytes + bytes > limits.maxQueuedBytes
    return isFull ? .tooManyInFlight : nil
  }

  /// Adds a request or notification that was not refused. Returns what to start; `nil` if it waits.
  ///
  /// - Parameters:
  ///   - id: `.null` for a notification, whose response is discarded.
  ///   - request: kept until the request is removed.
  public mutating func enter(
    _ call: Call, id: RPCID, bytes: Int, destination: AnswerDestination, request: RPCRequest? = nil
  ) -> Start? {
    lastNumber += 1
    let ticket = Ticket(number: lastNumber)
    let departure = Departure(id: id, call: call, destination: destination, request: request)
    let runs = runningCount < limits.maxInFlight
    entries[ticket] = Entry(departure: departure, bytes: bytes, isRunning: runs)
    if destination != .discarded { tickets[id] = ticket }
    if runs {
      runningCount += 1
      return Start(ticket: ticket, call: call)
    }
    queuedBytes += bytes
    order.append(ticket)
    return nil
  }

  /// Removes a running request that has its result. Returns it, and the waiting request to start next.
  public mutating func finish(_ ticket: Ticket) -> (departure: Departure, next: Start?)? {
    guard let entry = entries[ticket], entry.isRunning else { return nil }
    remove(ticket, entry)
    return (entry.departure, startNext())
  }

  /// Removes a waiting request that the peer has cancelled. A running one stays until `finish`. Returns what to do with
  /// the request.
  public mutating func cancel(_ id: RPCID) -> Cancellation {
    guard let ticket = tickets[id], let entry = entries[ticket] else { return .unknown }
    if entry.isRunning { return .running(ticket) }
    remove(ticket, entry)
    // Without this, a peer that keeps filling the queue and cancelling would grow it without bound.
    if order.count > 2 * entries.count + 64 { order.removeAll { entries[$0] == nil } }
    return .waiting(entry.departure)
  }

  /// Answers new requests with `shuttingDown` from now on. Accepted requests still run.
  public mutating func drain() { isDraining = true }

  /// Records the end of the input. The connection can be closed when all requests in progress are answered.
  public mutating func endInput() { isInputEnded = true }

  /// Removes and returns all waiting requests: abandon them, and answer them if the peer still reads.
  public mutating func removeWaiting() -> [Departure] {
    defer { order.removeAll() }
    return order.compactMap { ticket in
      guard let entry = entries[ticket] else { return nil }
      remove(ticket, entry)
      return entry.departure
    }
  }

  private mutating func remove(_ ticket: Ticket, _ entry: Entry) {
    entries[ticket] = nil
    if entry.departure.destination != .discarded { tickets[entry.departure.id] = nil }
    if entry.isRunning { runningCount -= 1 } else { queuedBytes -= entry.bytes }
  }

  private mutating func startNext() -> Start? {
    while let ticket = order.popFirst() {
      guard var entry = entries[ticket] else { continue }
      entry.isRunning = true
      entries[ticket] = entry
      queuedBytes -= entry.bytes
      runningCount += 1
      return Start(ticket: ticket, call: entry.departure.call)
    }
    return nil
  }
}
