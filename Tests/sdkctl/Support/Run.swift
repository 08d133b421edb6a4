import JSONRPC
import SDKClientTesting
import Synchronization

@testable import sdkctl

/// A run of command lines against a scripted daemon.
final class Run: Sendable {
  struct Call: Hashable {
    let method: String
    let params: JSON
  }

  private struct Seen {
    var output = ""
    var errors = ""
    var calls: [Call] = []
    var path: String?
  }

  private let seen = Mutex(Seen())

  /// The text written to standard output; `errors` is that of standard error.
  var output: String { seen.withLock { $0.output } }
  var errors: String { seen.withLock { $0.errors } }
  /// The calls that the daemon received, in order.
  var calls: [Call] { seen.withLock { $0.calls } }
  /// The path of the last socket that was connected to.
  var path: String? { seen.withLock { $0.path } }

  /// Runs a command line and returns its exit status.
  ///
  /// - Parameter answer: the daemon's response to a call.
  func status(
    _ line: String..., input: String = "", isTerminal: Bool = false, hasColour: Bool = false,
    answer: @escaping @Sendable (String, JSON) throws -> JSON = { _, _ in [:] }
  ) async -> Int32 {
    await status(line, input: input, isTerminal: isTerminal, hasColour: hasColour, answer: answer)
  }

  /// Runs a command line that is given as an array.
  ///
  /// - Parameter lines: the number of lines after which the reader of standard output ends; `nil` for no end.
  func status(
    _ line: [String], input: String = "", isTerminal: Bool = false, hasColour: Bool = false, lines: Int? = nil,
    answer: @escaping @Sendable (String, JSON) throws -> JSON = { _, _ in [:] }
  ) async -> Int32 {
    let daemon = ScriptedDaemon()
    daemon.otherwise { method, params in
      self.seen.withLock { $0.calls.append(Call(method: method, params: params)) }
      return try answer(method, params)
    }
    let connector = daemon.connector
    return await Program.run(
      line,
      output: Output(isTerminal: isTerminal, hasColour: hasColour) { bytes in
        let count = self.seen.withLock { seen in
          seen.output += String(decoding: bytes, as: UTF8.self)
          return seen.output.count { $0 == "\n" }
        }
        if let lines, count >= lines { throw BrokenPipe() }
      },
      errors: Output { bytes in self.seen.withLock { $0.errors += String(decoding: bytes, as: UTF8.self) } },
      input: Input(isTerminal: false) { _ in Array(input.utf8) },
      connector: { path, onRequest in
        self.seen.withLock { $0.path = path }
        return try await connector(path, onRequest)
      })
  }
}
