import JSONRPC
import SDKClient
import SDKProtocol

/// The reason why a command failed, as shown to the user.
struct CommandFailure: Error, Hashable {
  /// The message, one sentence.
  var message: String
  /// The stable name.
  var reason: String
  /// The exit status.
  var status: Int32
  /// The suggestions for the user.
  var hints: [String] = []
  /// The daemon's own error, if it was one.
  var rpc: RPCError?

  /// Returns the failure for a wrong command line.
  static func usage(_ message: String, hints: [String] = []) -> CommandFailure {
    CommandFailure(message: message, reason: "usage", status: 2, hints: hints)
  }

  /// Returns the failure for input that can't be read or used.
  static func input(_ message: String) -> CommandFailure {
    CommandFailure(message: message, reason: "input", status: 1)
  }
}

extension CommandFailure {
  /// Creates the failure for an error; `nil` for errors of the argument parser.
  init?(_ error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as SDKClientError: self.init(error)
    case is CancellationError: self.init(message: "Interrupted.", reason: "cancelled", status: 1)
    default: return nil
    }
  }

  init(_ error: SDKClientError) {
    self.init(message: error.description, reason: error.reason, status: 1)
    switch error {
    case .rpc(let error):
      rpc = error
      status = ExitStatus.status(code: error.code, reason: error.reason, isRetryable: error.isRetryable)
      hints = (error.data["hints"]?.arrayValue ?? []).compactMap(\.stringValue)
      if let seconds = error.data["retryAfter"]?.doubleValue {
        hints.append("try again in \(Elapsed.text(seconds: seconds))")
      }
    case .badLocation: status = 2
    case .noDaemon: status = 3
    case .notPermitted, .untrustedServer: status = 4
    case .timeout, .closed, .outcomeUnknown(_, .timeout):
      status = 75
      hints = ["sdkctl doctor finds out why"]
    case .tooManyCalls: status = 75
    case .outcomeUnknown, .badAnswer, .system: break
    }
  }

  /// Whether the message says that the mode of a file must change. Such a key is there, and not missing.
  var isAboutModes: Bool { message.contains("chmod") }

  /// The lines for standard error.
  var lines: [String] {
    // A message is one line, whatever it quotes.
    ["sdkctl: \(message.split(separator: "\n").joined(separator: " "))\(reason.isEmpty ? "" : " (\(reason))")"]
      + hints.map { "  hint: \($0)" }
  }

  /// The failure as JSON on one line.
  var jsonText: String {
    var object: JSONObject = [
      "message": .string(message), "reason": .string(reason), "exitStatus": JSON(Int(status)),
    ]
    if !hints.isEmpty { object["hints"] = .array(hints.map(JSON.string)) }
    if let rpc {
      object["code"] = JSON(rpc.code)
      object["data"] = .object(rpc.data)
    }
    return JSONWriter.text(of: .object(object))
  }
}
