import Glibc
import JSONRPC
import JSONRPCTransport
import Linux
import Logging
import SDKProtocol
import StateStore
import Synchronization
import Systemd

/// The connections of this daemon on their way to the next one, in a bag: their sockets, and their state, which is
/// sealed and never touches the disk.
final class HandOver: Sendable {
  /// The name of the bag among the descriptors that the next daemon gets.
  static let name = "sdkd.bag"

  private struct Contents {
    var isRequested = false
    var bag: OwnedDescriptor?
    /// The contents of the former daemon's bag, without the connections; `nil` if it left no bag.
    var found: Found?
    /// The number of the connections that `receive` has returned.
    var received = 0
    /// The words about its connections; `nil` before they were continued.
    var arrival: String?
  }

  private let contents = Mutex(Contents())
  private let restart: ProgramRestart
  private let logger: Logger

  /// Creates a hand-over by the restart of the program in this process.
  init(_ restart: ProgramRestart, logger: Logger) {
    self.restart = restart
    self.logger = logger
  }

  /// Requests that this process is replaced at its end.
  func request() { contents.withLock { $0.isRequested = true } }

  /// Whether this process is replaced at its end.
  var isRequested: Bool { contents.withLock { $0.isRequested } }

  /// Whether the next daemon can continue the connections of this one: because this process is replaced, or because
  /// the service manager keeps the bag.
  ///
  /// The manager decides only later whether a stop is one half of a restart. In other stops it closes the bag.
  var isPossible: Bool { isRequested || Notifier.keepsDescriptors }

  /// Replaces this process if that was requested, and returns only on failure. Otherwise leaves the bag to the service
  /// manager, if there is one.
  ///
  /// - Returns: whether the process is to end without an error.
  func finish(_ notifier: Notifier) -> Bool {
    let (isRequested, bag) = contents.withLock { ($0.isRequested, $0.bag) }
    if isRequested {
      restart.run(handingOver: bag)
      logger.critical("The daemon can't be executed again and stops. Start it.")
      return false
    }
    if let bag, notifier.store(bag.raw, named: Self.name) { notifier.barrier(timeout: .seconds(5)) }
    return true
  }

  // MARK: Packing

  /// Puts connections into the bag, with the rates that users have used up, and closes their descriptors.
  func pack(_ connections: [HandedConnection], _ rates: [HandedRates], _ database: SQLiteStateStore?) {
    defer { for connection in connections { close(connection.descriptor) } }
    guard let database, !connections.isEmpty || !rates.isEmpty else { return }
    // The small ones first: if there is not enough room, those whose clients don't read are closed.
    let records = connections.map { (bytes: $0.state.encoded, descriptor: $0.descriptor) }
      .sorted { $0.bytes.count < $1.bytes.count }
    var (state, descriptors) = (HandedRates.encode(rates), [Int32]())
    for record in records {
      // With room for what the seal adds.
      guard state.count + record.bytes.count < DescriptorBag.maximumStateBytes - 4096 else { break }
      state += record.bytes
      descriptors.append(record.descriptor)
    }
    if descriptors.count < records.count {
      logger.warning("\(records.count - descriptors.count) connections are closed: their clients read too little.")
    }
    do {
      let sealed = try database.sealForNext(state, machine: Self.machine)
      let bag = try DescriptorBag.pack(descriptors, state: sealed)
      contents.withLock { $0.bag = bag }
    } catch {
      logger.error("The connections can't be handed over and are closed: \(error)")
    }
  }

  // MARK: Unpacking

  /// The contents of a bag that could be read, and the number of those that could not.
  struct Found {
    /// The connections to continue.
    var connections: [HandedConnection] = []
    /// The rates that users have used up.
    var rates: [HandedRates] = []
    /// The number of descriptors that were closed.
    var closed = 0
    /// The number of connections whose descriptor is missing.
    var missing = 0
    /// The number of connections that end.
    var dropped: Int { closed + missing }
    /// Why nothing could be read; `nil` if the state was read.
    var problem: String?

    /// Adds what was found in another bag.
    static func += (all: inout Found, other: Found) {
      all.connections += other.connections
      all.rates += other.rates
      all.closed += other.closed
      all.missing += other.missing
      all.problem = all.problem ?? other.problem
    }
  }

  /// Takes the connections out of a bag. What can't be read is closed.
  static func unpack(_ bag: OwnedDescriptor, _ database: SQLiteStateStore?) -> Found {
    let contents = DescriptorBag.unpack(bag.raw, limit: ConnectionLimits.descriptors)
    bag.close()
    var found = Found()
    var known: [UInt64: ConnectionHandOver] = [:]
    if let database, let sealed = contents.state, let state = database.openFromLast(sealed, machine: machine) {
      found.rates = HandedRates.decode(state)
      for state in ConnectionHandOver.decode(state) { known[state.inode] = state }
    } else {
      found.problem = database == nil ? "the state of the daemon can't be used" : "its state does not open"
    }
    for descriptor in contents.descriptors {
      if let state = known.removeValue(forKey: ConnectionHandOver.inode(of: descriptor)), isConnection(descriptor) {
        found.connections.append(HandedConnection(descriptor: descriptor, state: state))
      } else {
        close(descriptor)
        found.closed += 1
      }
    }
    found.missing = known.count
    return found
  }

  /// Takes the connections out of the bags that the former daemon has left. After it, no bag is stored: after a crash
  /// it would be a former state.
  func receive(_ bags: [Int32], _ database: SQLiteStateStore?, _ notifier: Notifier) -> HandedConnections {
    guard !bags.isEmpty else { return HandedConnections([]) }
    notifier.removeStored(named: Self.name)
    var found = bags.map { Self.unpack(OwnedDescriptor($0), database) }.reduce(into: Found()) { $0 += $1 }
    let connections = HandedConnections(found.connections)
    found.connections = []
    contents.withLock { [found] contents in
      contents.found = found
      contents.received = connections.count
    }
    return connections
  }

  /// The rates that users of the former daemon have used up.
  var rates: [HandedRates] { contents.withLock { $0.found?.rates ?? [] } }

  /// Reports what became of the connections that `receive` has returned; nothing if there was no bag.
  ///
  /// - Parameters:
  ///   - kept: the number of connections that continue.
  ///   - refused: the number of those that were refused by the limits that hold now. The others took too long.
  ///   - count: counts the connections that continue, and those that were closed.
  func report(kept: Int, refused: Int, _ count: (_ kept: Int, _ closed: Int) -> Void) {
    let (bags, received) = contents.withLock { ($0.found, $0.received) }
    // A bag without connections has rates only.
    guard let found = bags, received > 0 || found.dropped > 0 || found.problem != nil else { return }
    let late = received - kept - refused
    let closed = found.dropped + refused + late
    var words = "Connections of the former daemon: \(kept) kept"
    if closed > 0 || found.problem != nil { words += ", \(closed) closed" }
    if let problem = found.problem { words += "; \(problem)" }
    if refused > 0 { words += "; \(refused) over a limit of connections" }
    if late > 0 { words += "; \(late) not continued in time" }
    contents.withLock { $0.arrival = words }
    count(kept, closed)
    if closed == 0, found.problem == nil { logger.notice("\(words).") } else { logger.warning("\(words).") }
  }

  /// The check for `daemon.health`, which says what became of the connections of the former daemon; none if there was
  /// no hand-over.
  var checks: [DaemonHealth.Check] {
    contents.withLock(\.arrival).map { [DaemonHealth.Check(name: "connections", status: .ok, detail: $0)] } ?? []
  }

  private static func isConnection(_ descriptor: Int32) -> Bool {
    func option(_ name: CInt) -> CInt? {
      var value: CInt = 0
      var size = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
    return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == CInt(SOCK_STREAM.rawValue) && option(SO_ACCEPTCONN) == 0
  }

  /// The identity of the running system.
  private static var machine: String { BoundedFile.text(at: "/proc/sys/kernel/random/boot_id", limit: 64) ?? "" }
}
