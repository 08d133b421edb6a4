import JSONRPC
import JSONRPCTransport
import NIOPosix
import Synchronization

/// A program behind the connections. It records calls in `seen`, and its slow calls wait at `gate`.
final class TestProgram: Sendable {
  struct Seen {
    var accepted: [String] = []
    var acceptedPrepared = 0
    var notificationsPrepared = 0
    /// The methods of prepared requests, and whether each was prepared on an event loop.
    var prepared: [(method: String, isOnEventLoop: Bool)] = []
    var notifications: [(method: String, params: JSON?)] = []
    var ran = 0
    var abandoned = 0
    var cancelled = 0
    var closed = 0
    var connections: [Connection] = []
  }

  let gate = Gate()
  private let state = Mutex(Seen())

  var seen: Seen { state.withLock { $0 } }

  func note(_ body: (inout Seen) -> Void) { state.withLock { body(&$0) } }

  var makeHandler: Listener.MakeHandler {
    { connection in
      self.note { $0.connections.append(connection) }
      return TestHandler(program: self, connection: connection)
    }
  }
}

/// A handler of the methods that the tests call.
final class TestHandler: ConnectionHandler {
  let program: TestProgram
  let connection: Connection

  init(program: TestProgram, connection: Connection) {
    self.program = program
    self.connection = connection
  }

  func prepare(_ request: RPCRequest) -> RPCRequest {
    program.note { $0.prepared.append((request.method, MultiThreadedEventLoopGroup.currentEventLoop != nil)) }
    var request = request
    request.prepared = Ready()
    return request
  }

  func accept(_ request: RPCRequest) -> Acceptance {
    if request.prepared is Ready { program.note { $0.acceptedPrepared += 1 } }
    program.note { $0.accepted.append(request.method) }
    switch request.method {
    case "echo": return .reply(.success(JSONWriter.bytes(of: request.params ?? nil)))
    case "subtract": return .reply(Self.subtract(request.params))
    case "sum":
      let sum = (request.params?.arrayValue ?? []).compactMap(\.intValue).reduce(0, +)
      return .reply(.success(Array("\(sum)".utf8)))
    case "get_data": return .reply(.success(Array(#"["hello",5]"#.utf8)))
    case "text":
      let count = request.params?["bytes"]?.intValue ?? 0
      return .reply(.success(Array("\"".utf8) + Array(repeating: 0x78, count: count) + Array("\"".utf8)))
    case "subscribe":
      connection.notify(method: "event", params: ["n": 1])
      return .reply(.success(Array("{}".utf8)))
    case "slow": return .run(TestCall(program: program))
    case "late": return .run(LateCall(connection: connection))
    case "ask":
      return .run(AskCall(connection: connection, timeout: request.params?["ms"]?.intValue))
    default: return .reply(.failure(.methodNotFound(request.method, nearest: nil)))
    }
  }

  private static func subtract(_ params: JSON?) -> Result<[UInt8], RPCError> {
    let (minuend, subtrahend) =
      if let list = params?.arrayValue, list.count == 2 {
        (list[0].intValue, list[1].intValue)
      } else {
        (params?["minuend"]?.intValue, params?["subtrahend"]?.intValue)
      }
    guard let minuend, let subtrahend else { return .failure(.invalidParams("Two numbers.")) }
    return .success(Array("\(minuend - subtrahend)".utf8))
  }

  func receive(notification: RPCRequest) -> (any AcceptedCall)? {
    if notification.prepared is Ready { program.note { $0.notificationsPrepared += 1 } }
    program.note { $0.notifications.append((notification.method, notification.params)) }
    return notification.method == "slow" ? TestCall(program: program) : nil
  }

  func closed() { program.note { $0.closed += 1 } }
}

/// The object that `prepare` puts into requests.
private final class Ready: Sendable {}

/// A call that waits at the gate.
final class TestCall: AcceptedCall {
  let program: TestProgram

  init(program: TestProgram) { self.program = program }

  func run() async -> Result<[UInt8], RPCError> {
    program.note { $0.ran += 1 }
    await program.gate.wait()
    if Task.isCancelled {
      program.note { $0.cancelled += 1 }
      return .failure(.cancelled)
    }
    return .success(Array("\"done\"".utf8))
  }
  func abandon() { program.note { $0.abandoned += 1 } }
}

/// A call that sends a notification as soon as its response is written.
final class LateCall: AcceptedCall {
  let connection: Connection

  init(connection: Connection) { self.connection = connection }

  func run() async -> Result<[UInt8], RPCError> { .success(Array("{}".utf8)) }
  func abandon() {}
  func answered() { connection.notify(method: "event", params: ["n": 2]) }
}

/// A call that sends a request to the client and returns the client's response.
final class AskCall: AcceptedCall {
  let connection: Connection
  let timeout: Int?

  init(connection: Connection, timeout: Int?) {
    self.connection = connection
    self.timeout = timeout
  }

  func run() async -> Result<[UInt8], RPCError> {
    do {
      let answer = try await connection.request(
        method: "question", params: ["why": true], timeout: timeout.map { .milliseconds($0) })
      return .success(JSONWriter.bytes(of: answer))
    } catch {
      return .success(JSONWriter.bytes(of: .string("\(error)")))
    }
  }
  func abandon() {}
}
