import Glibc
import JSONRPC
import NIOPosix
import Synchronization
import Testing

@testable import JSONRPCTransport

/// The connections of another process that a listener continues before it accepts others.
struct AdoptionTests {
  /// The steps of a start, in order.
  private final class Steps: Sendable {
    private let steps = Mutex<[String]>([])
    var all: [String] { steps.withLock { $0 } }
    func add(_ step: String) { steps.withLock { $0.append(step) } }
  }

  /// A handler that answers 1, and continues the state `"slow"` only when its gate is open.
  private final class GatedHandler: ConnectionHandler {
    private let gate: Gate
    init(_ gate: Gate) { self.gate = gate }

    func accept(_ request: RPCRequest) -> Acceptance { .reply(.success(Array("1".utf8))) }
    func receive(notification: RPCRequest) -> (any AcceptedCall)? { nil }
    func adopt(_ state: JSON) async { if state == "slow" { await gate.wait() } }
    func closed() {}
  }

  private static let call = #"{"jsonrpc":"2.0","id":1,"method":"echo"}"#

  /// Returns the client's end of a new connection, and the other one as another process hands it over: with a call
  /// that was not run.
  ///
  /// - Parameter number: what the former process has seen of the peer's process; 0 if it has not seen it.
  private func connection(_ number: UInt64, _ program: JSON = .null) throws -> (RawPeer, HandedConnection) {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    let state = ConnectionHandOver(
      inode: ConnectionHandOver.inode(of: ends[1]), framing: .lines, input: [], output: [],
      requests: [ConnectionHandOver.Request(text: Array(Self.call.utf8))], lastQuestion: number,
      processStart: ProcessStamp(of: getpid())?.start, program: program)
    return (RawPeer(descriptor: ends[0]), HandedConnection(descriptor: ends[1], state: state))
  }

  /// Runs a listener that adopts connections, while `body` runs.
  private func adopting(
    _ handed: [HandedConnection], stepLimit: Duration = .seconds(60), admit: @escaping Listener.Admission,
    gate: Gate, _ body: (_ path: String, Steps) async throws -> Void
  ) async throws {
    let directory = try TestDirectory()
    let path = directory("s")
    let listener = try Listener.bind(path: path, mode: 0o600)
    let steps = Steps()
    let adoption = Adoption(
      HandedConnections(handed), stepLimit: stepLimit,
      seen: { pid, state in state.lastQuestion == 0 ? nil : PinnedProcess(pid: pid, seen: state.lastQuestion) },
      admit: admit, whenDone: { steps.add("\($0) kept, \($1) refused") })
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await listener.run(
          on: MultiThreadedEventLoopGroup.singleton, whenAccepting: { steps.add("accepting") }, adopting: adoption,
          makeHandler: { _ in GatedHandler(gate) })
      }
      let result: Result<Void, any Error>
      do { result = .success(try await body(path, steps)) } catch { result = .failure(error) }
      gate.open()
      listener.drain(grace: .zero)
      try await group.waitForAll()
      try result.get()
    }
    #expect(adoption.connections.take().isEmpty, "the states of connections stay in memory")
    withExtendedLifetime(directory) {}
  }

  /// Returns when a new connection is served.
  private func expectService(_ path: String) async throws {
    let peer = try await RawPeer(path)
    try await peer.send(message: Self.call)
    #expect(try await peer.json()["result"] == 1)
  }

  /// Returns when these steps were made. A connection may be served before the listener reports that it accepts.
  private func expect(_ expected: [String], _ steps: Steps) async throws {
    try await waitUntil("the steps are \(expected)") { steps.all.count >= expected.count }
    #expect(steps.all == expected)
  }

  /// Returns what the former process has seen of a peer's process.
  private static func number(_ peer: PeerCredentials) -> UInt64? {
    peer.process.flatMap { $0.isSeen ? $0.once { _ in UInt64(0) } : nil }
  }

  private static let refusal = RPCError(code: -32050, reason: "rateLimit", retryable: true, message: "Too many.")

  @Test("Connections are adopted before others are accepted")
  func order() async throws {
    let (first, second) = (try connection(1), try connection(2))
    let admit: Listener.Admission = { Self.number($0) == 2 ? .refused(Self.refusal) : .admitted(nil) }
    try await adopting([first.1, second.1], admit: admit, gate: Gate()) { path, steps in
      #expect(try await first.0.json()["result"] == 1)
      #expect(try await second.0.json()["error"]?["data"]?["reason"] == "rateLimit")
      #expect(try await second.0.next() == .end)
      try await expectService(path)
      try await expect(["1 kept, 1 refused", "accepting"], steps)
    }
  }

  @Test("A peer's process is the one that was seen before, or else pinned again")
  func processes() async throws {
    let (seen, unseen) = (try connection(7), try connection(0))
    let processes = Mutex<[(number: UInt64?, pid: Int32?)]>([])
    let admit: Listener.Admission = { peer in
      let number = Self.number(peer)
      processes.withLock { $0.append((number, peer.process?.once { $0 })) }
      return .admitted(nil)
    }
    try await adopting([seen.1, unseen.1], admit: admit, gate: Gate()) { path, steps in
      try await expect(["2 kept, 0 refused", "accepting"], steps)
      let found = processes.withLock { $0 }
      #expect(found.first { $0.number != nil }?.number == 7)
      #expect(found.first { $0.number == nil }?.pid == getpid())
    }
    withExtendedLifetime((seen, unseen)) {}
  }

  @Test("A connection that is admitted too late is closed, and delays the others for the limit only")
  func lateAdmission() async throws {
    let (late, other) = (try connection(1), try connection(2))
    let gate = Gate()
    let admit: Listener.Admission = { peer in
      guard Self.number(peer) == 1 else { return .admitted(nil) }
      return .pending {
        await gate.wait()
        return .admitted(nil)
      }
    }
    try await adopting([late.1, other.1], stepLimit: .seconds(2), admit: admit, gate: gate) { path, steps in
      try await expectService(path)
      try await expect(["1 kept, 0 refused", "accepting"], steps)
      #expect(try await other.0.json()["result"] == 1)
      gate.open()
      #expect(try await late.0.next() == .end)
    }
  }

  @Test("A connection whose state takes too long to continue is closed, and others are accepted")
  func slowProgram() async throws {
    let slow = try connection(1, "slow")
    try await adopting(
      [slow.1], stepLimit: .milliseconds(50), admit: { _ in .admitted(nil) }, gate: Gate()
    ) { path, steps in
      try await expectService(path)
      try await expect(["0 kept, 0 refused", "accepting"], steps)
      #expect(try await slow.0.next() == .end)
    }
  }
}
