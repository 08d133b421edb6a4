import Glibc
import JSONRPC
import Linux
import NIOPosix
import Testing

@testable import JSONRPCTransport

struct ListenerTests {
  private let directory: TestDirectory
  private let path: String

  init() throws {
    directory = try TestDirectory()
    path = directory("s")
  }

  private func inode(_ path: String) -> UInt? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt(status.st_ino) : nil
  }

  /// Makes a listening descriptor that no listener serves, as a dead or a starting process leaves it.
  private func rawListener(backlog: CInt = 16) throws -> CInt {
    let address = try #require(UnixAddress(path: path))
    let descriptor = UnixAddress.makeSocket()
    #expect(address.withPointer { bind(descriptor, $0, $1) } == 0)
    #expect(listen(descriptor, backlog) == 0)
    return descriptor
  }

  @Test func hasTheRightsThatWereAskedForAndGoesAwayWithItsListener() throws {
    let mask = umask(0o022)
    defer { umask(mask) }
    let listener = try Listener.bind(path: path, mode: 0o660)
    var status = stat()
    #expect(lstat(path, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o660)
    listener.drain(grace: .zero)
    #expect(inode(path) == nil)
  }

  @Test func replacesAStaleSocket() throws {
    close(try rawListener())
    #expect(inode(path) != nil)
    _ = try Listener.bind(path: path, mode: 0o600)
  }

  @Test func leavesALivingOneAlone() async throws {
    let living = try rawListener(backlog: 0)
    defer { close(living) }
    let before = inode(path)
    #expect(throws: ListenerError.inUse(path: path)) { try Listener.bind(path: path, mode: 0o600) }
    // Its queue is full now, but it is still in use.
    #expect(throws: ListenerError.inUse(path: path)) { try Listener.bind(path: path, mode: 0o600) }
    #expect(throws: ListenerError.inUse(path: path)) { try Listener.bind(path: path, mode: 0o600) }
    #expect(inode(path) == before)
  }

  @Test(.enabled(if: getuid() == 0, "needs root, to have another user's socket"))
  func leavesAStaleSocketOfAnotherUserAlone() throws {
    close(try rawListener())
    #expect(chown(path, 1, 1) == 0)
    let before = inode(path)
    let error = ListenerError.foreignSocket(path: path, owner: 1)
    #expect(throws: error) { try Listener.bind(path: path, mode: 0o600) }
    #expect(inode(path) == before)
    #expect("\(error)".contains("uid 1"))
  }

  @Test func leavesAFileAlone() throws {
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    #expect(throws: ListenerError.notASocket(path: path)) { try Listener.bind(path: path, mode: 0o600) }
    #expect(inode(path) != nil)
  }

  @Test func refusesAPathThatDoesNotFit() throws {
    let long = directory(String(repeating: "x", count: 107 - directory.path.utf8.count))
    #expect(throws: ListenerError.pathTooLong(path: long, limit: 107)) { try Listener.bind(path: long, mode: 0o600) }
    _ = try Listener.bind(path: String(long.dropLast()), mode: 0o600)
  }

  @Test func saysThatTheDirectoryIsMissing() throws {
    #expect(throws: ListenerError.system(call: "open", errno: ENOENT, path: directory("no"))) {
      try Listener.bind(path: directory("no/s"), mode: 0o600)
    }
  }

  @Test func removesItsOwnFileOnly() throws {
    let listener = try Listener.bind(path: path, mode: 0o600)
    unlink(path)
    let other = try rawListener()
    defer { close(other) }
    listener.drain(grace: .zero)
    #expect(inode(path) != nil)
  }

  @Test func takesOnlyListeningUnixSockets() throws {
    let unbound = UnixAddress.makeSocket()
    defer { close(unbound) }
    #expect(throws: ListenerError.notListening(descriptor: unbound)) { try Listener(descriptor: unbound) }
    let tcp = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(tcp) }
    #expect(listen(tcp, 1) == 0)
    #expect(throws: ListenerError.notListening(descriptor: tcp)) { try Listener(descriptor: tcp) }
    #expect(throws: ListenerError.notListening(descriptor: -1)) { try Listener(descriptor: -1) }
  }

  @Test func anActivatedSocketKeepsItsPathAndItsQueue() async throws {
    let activated = try rawListener()
    defer { close(activated) }
    let program = TestProgram()
    // The client connects before the daemon serves, like the one whose connection made systemd start the daemon.
    let early = try await RawPeer(path)
    try await early.send(#"{"jsonrpc":"2.0","id":1,"method":"echo"}"# + "\n")
    let listener = try Listener(descriptor: dup(activated))
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await listener.run(on: MultiThreadedEventLoopGroup.singleton, makeHandler: program.makeHandler)
      }
      #expect(try await early.json()["id"] == 1)
      listener.drain(grace: .seconds(5))
      try await group.waitForAll()
    }
    #expect(try await early.next() == .end)
    #expect(inode(path) != nil)
    let waiting = try await RawPeer(path)
    withExtendedLifetime(waiting) {}
  }

  @Test func aRefusedConnectionGetsOneErrorAndIsClosed() async throws {
    let error = RPCError(code: -32050, reason: "rateLimit", retryable: true, message: "Too many connections.")
    try await withServer(admit: { $0.uid == getuid() ? .refused(error) : .admitted(nil) }) { server in
      let peer = try await server.peer()
      let answer = try await peer.json()
      #expect(answer["id"]?.isNull == true)
      #expect(answer["error"]?["data"]?["reason"] == "rateLimit")
      #expect(try await peer.next() == .end)
      #expect(server.program.seen.connections.isEmpty)
      let client = try await server.client()
      await #expect(throws: error) { try await client.call(method: "echo") }
    }
  }

  @Test func aDrainEndsIdleConnectionsAndLetsTheOthersFinish() async throws {
    try await withServer { server in
      let idle = try await server.peer()
      let busy = try await server.peer()
      try await busy.send(#"{"jsonrpc":"2.0","id":1,"method":"slow"}"# + "\n")
      try await waitUntil("it runs") { server.program.gate.count == 1 && server.program.seen.connections.count == 2 }
      server.listener.drain(grace: .seconds(60))
      #expect(try await idle.next() == .end)
      // Each connection begins its drain on its own event loop, and the listener on another one.
      try await waitUntil("its connection drains") {
        try await busy.send(#"{"jsonrpc":"2.0","id":2,"method":"echo"}"# + "\n")
        return try await busy.json()["error"]?["data"]?["reason"] == "shuttingDown"
      }
      try await waitUntil("the socket is gone") { access(server.path, F_OK) != 0 }
      await #expect(throws: ClientConnectionError.notRunning(path: server.path)) { try await server.client() }
      server.program.gate.open()
      #expect(try await busy.json()["result"] == "done")
      #expect(try await busy.next() == .end)
      try await waitUntil("both closed") { server.program.seen.closed == 2 }
    }
  }

  @Test func aDrainCutsAnUnfinishedFrameWithoutAWord() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(#"{"jsonrpc":"2.0","id":1,"method":"echo"}"# + "\n{\"half")
      #expect(try await peer.json()["id"] == 1)
      server.listener.drain(grace: .seconds(60))
      #expect(try await peer.next() == .end)
    }
  }

  /// Every request that a client sent before the connection ended gets a response, whenever the drain begins.
  @Test func everyFrameThatWasSentIsAnswered() async throws {
    for _ in 0..<20 {
      try await withServer { server in
        let peer = try await server.peer()
        let sender = Task { [descriptor = peer.descriptor] in
          var sent = 0
          let line = Array((#"{"jsonrpc":"2.0","id":1,"method":"echo"}"# + "\n").utf8)
          while sent < 5000 {
            let count = line.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count == line.count {
              sent += 1
            } else if count < 0, errno == EAGAIN {
              await Task.yield()
            } else {
              break
            }
          }
          return sent
        }
        try await waitUntil("some arrived") { server.program.seen.accepted.count > 10 }
        server.listener.drain(grace: .seconds(60))
        var answers = 0
        while case .line = try await peer.next() { answers += 1 }
        #expect(answers == (await sender.value))
      }
    }
  }

  @Test func afterTheGraceEverythingIsClosed() async throws {
    try await withServer(limits: TransportLimits(maxInFlight: 1)) { server in
      let busy = try await server.peer()
      try await busy.send(
        #"{"jsonrpc":"2.0","id":1,"method":"slow"}"# + "\n" + #"{"jsonrpc":"2.0","id":2,"method":"slow"}"# + "\n")
      try await waitUntil("it runs") { server.program.gate.count == 1 && server.program.seen.accepted.count == 2 }
      server.listener.drain(grace: .milliseconds(20))
      let answer = try await busy.json()
      #expect(answer["id"] == 2)
      #expect(answer["error"]?["data"]?["reason"] == "shuttingDown")
      #expect(try await busy.next() == .end)
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.cancelled == 1)
      #expect(server.program.seen.abandoned == 1)
    }
  }

  @Test func aDrainBeforeTheRunMakesItReturn() async throws {
    let listener = try Listener.bind(path: path, mode: 0o600)
    listener.drain(grace: .seconds(1))
    try await listener.run(on: MultiThreadedEventLoopGroup.singleton, makeHandler: TestProgram().makeHandler)
  }

  @Test func cancellingTheRunEndsIt() async throws {
    let listener = try Listener.bind(path: path, mode: 0o600)
    let program = TestProgram()
    let run = Task {
      try await listener.run(on: MultiThreadedEventLoopGroup.singleton, makeHandler: program.makeHandler)
    }
    let peer = try await RawPeer(path)
    try await waitUntil("connected") { program.seen.connections.count == 1 }
    run.cancel()
    try await run.value
    #expect(try await peer.next() == .end)
    #expect(program.seen.closed == 1)
  }

  @Test func manyConnectionsComeAndGo() async throws {
    try await withServer { server in
      try await withThrowingTaskGroup { group in
        for _ in 0..<200 {
          group.addTask {
            let client = try await server.client()
            #expect(try await client.call(method: "echo", params: ["a": 1]) == ["a": 1])
          }
        }
        try await group.waitForAll()
      }
      try await waitUntil("all closed") { server.program.seen.closed == 200 }
    }
  }
}
