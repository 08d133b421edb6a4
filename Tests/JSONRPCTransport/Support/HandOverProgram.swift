import JSONRPC
import JSONRPCTransport
import Synchronization

/// A program whose connections are handed over: its calls of `wait` run in the last process.
final class HandOverProgram: Sendable {
  /// The gate at which calls of `wait` wait before they are left to another process.
  let gate = Gate()
  /// Whether another process follows.
  private let leavesCalls: Bool
  private let finished = Mutex<[String]>([])
  private let refusals = Mutex<[String]>([])

  init(leavesCalls: Bool) { self.leavesCalls = leavesCalls }

  /// The methods of the calls that have run to their end, sorted.
  var ran: [String] { finished.withLock { $0.sorted() } }

  /// The methods of the calls whose refusal is final, sorted.
  var refused: [String] { refusals.withLock { $0.sorted() } }

  func makeHandler() -> any ConnectionHandler { Handler(program: self) }

  private final class Handler: ConnectionHandler {
    let program: HandOverProgram

    init(program: HandOverProgram) { self.program = program }

    func accept(_ request: RPCRequest) -> Acceptance {
      if request.method == "read" { return .reply(.success(Array("true".utf8))) }
      return .run(Call(program: program, method: request.method))
    }

    func receive(notification: RPCRequest) -> (any AcceptedCall)? {
      Call(program: program, method: notification.method)
    }

    func closed() {}
  }

  private final class Call: AcceptedCall {
    let program: HandOverProgram
    let method: String

    init(program: HandOverProgram, method: String) {
      self.program = program
      self.method = method
    }

    func run() async -> Result<[UInt8], RPCError> {
      if method == "long" { await Gate().wait() }
      if method == "wait", program.leavesCalls {
        await program.gate.wait()
        return .failure(.shuttingDown)
      }
      program.finished.withLock { $0.append(method) }
      return .success(Array("true".utf8))
    }

    func abandon() {}

    func refused(with error: RPCError) { program.refusals.withLock { $0.append(method) } }

    var awaitsAnswer: Bool { method == "follow" }
  }
}
