internal import DequeModule
public import JSONRPC

/// What a connection has in progress, what waits, and what is refused.
///
/// A value without clock, tasks or I/O: it is told what happened and says what to do. `Call` is what stands for
/// an accepted request; tests use strings.
public struct ConnectionState<Call> {
  /// The name of one accepted request, never used twice.
  public struct Ticket: Hashable, Sendable {
    let number: UInt64
  }

  /// A request to be run now.
  public struct Start {
    /// Its name for `finish`.
    public let ticket: Ticket
    /// What to run.
    public let call: Call
  }

  /// A request that is out of the books and wants its answer.
  public struct Departure {
    /// The id to answer.
    public let id: RPCID
    /// What ran, or never will.
    public let call: Call
    /// Where the answer goes.
    public let destination: AnswerDestination
  }

  /// What a cancellation met.
  public enum Cancellation {
    /// Nothing with this id.
    case unknown
    /// A request that waited: abandon it and answer `cancelled`.
    case waiting(Departure)
    /// A running request: cancel its task, which answers.
    case running(Ticket)
  }

  private struct Entry {
    let departure: Departure
    let bytes: Int
    var isRunning: Bool
  }

  /// How much it may ask for; lower ones don't touch what was accepted.
  public var limits: TransportLimits
  private var entries: [Ticket: Entry] = [:]
  private var tickets: [RPCID: Ticket] = [:]
  private var order: Deque<Ticket> = []
  private var lastNumber: UInt64 = 0
  var batches = BatchAnswers<Call>()

  /// Requests that run.
  public private(set) var runningCount = 0
  /// Bytes of the frames of requests that wait.
  public private(set) var queuedBytes = 0
  /// Whether new requests are answered `shuttingDown`.
  public private(set) var isDraining = false
  /// Whether the peer has said that it sends nothing more, or may not.
  public private(set) var isInputEnded = false

  /// The state of a new connection.
  public init(limits: TransportLimits) { self.limits = limits }

  /// Requests that run or wait.
  public var count: Int { entries.count }

  /// True while no request is in progress and no batch waits for an answer.
  public var isIdle: Bool { entries.isEmpty && batches.isEmpty }

  /// Why a request can't be taken; `nil` if it can.
  public func refusal(of id: RPCID, bytes: Int) -> RPCError? {
    if tickets[id] != nil { return .idInProgress }
    if isDraining { return .shuttingDown }
    let isFull = runningCount >= limits.maxInFlight && queuedBytes + bytes > limits.maxQueuedBytes
    return isFull ? .tooManyInFlight : nil
  }

  /// Enters a request that was not refused. Gives what to start; `nil` when it waits.
  public mutating func enter(
    _ call: Call, id: RPCID, bytes: Int, destination: AnswerDestination
  ) -> Start? {
    lastNumber += 1
    let ticket = Ticket(number: lastNumber)
    let departure = Departure(id: id, call: call, destination: destination)
    let runs = runningCount < limits.maxInFlight
    entries[ticket] = Entry(departure: departure, bytes: bytes, isRunning: runs)
    tickets[id] = ticket
    if runs {
      runningCount += 1
      return Start(ticket: ticket, call: call)
    }
    queuedBytes += bytes
    order.append(ticket)
    return nil
  }

  /// A running request has its result. Gives it back, and what to start in its place.
  public mutating func finish(_ ticket: Ticket) -> (departure: Departure, next: Start?)? {
    guard let entry = entries[ticket], entry.isRunning else { return nil }
    remove(ticket, entry)
    return (entry.departure, startNext())
  }

  /// The peer takes a request back.
  public mutating func cancel(_ id: RPCID) -> Cancellation {
    guard let ticket = tickets[id], let entry = entries[ticket] else { return .unknown }
    if entry.isRunning { return .running(ticket) }
    remove(ticket, entry)
    // Else a peer that fills the queue and cancels, again and again, would grow it for ever.
    if order.count > 2 * entries.count + 64 { order.removeAll { entries[$0] == nil } }
    return .waiting(entry.departure)
  }

  /// From now on new requests are answered `shuttingDown`; what was accepted still runs.
  public mutating func drain() { isDraining = true }

  /// The peer sends nothing more: what is in progress is answered, and then the connection can be closed.
  public mutating func endInput() { isInputEnded = true }

  /// Takes out everything that waits, to be abandoned, and answered where the peer still listens.
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
    tickets[entry.departure.id] = nil
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
