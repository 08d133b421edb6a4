import JSONRPC
import SDKProtocol
import Synchronization

/// A formatter for `--trace`, which makes the lines that show a command's calls: JSON-RPC messages with masked secrets.
final class Trace: Sendable {
  private static let mask = JSON.string("‹secret›")
  /// The secrets that the contract does not declare: the vendors' own names, and the key that recovers the state.
  private static let otherSecrets: Set<String> = [
    "refreshToken", "access_token", "refresh_token", "id_token", "idToken", "recoveryKey", "channel_key",
  ]
  /// The params of the kinds' own methods that are shown. All others may be secrets and are masked.
  private static let known: Set<String> = ["instance", "service", "timeout", "wait", "localOnly", "onChange"]

  private let count = Mutex(0)

  /// Returns the number of the next call, from 1.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }

  /// Returns the line of a request.
  func request(_ id: Int, _ method: String, _ params: JSON) -> String {
    let isCommon = CommonMethods.all.contains { $0.name == method }
    let shown =
      isCommon
      ? masked(params)
      : .object(
        JSONObject(
          (params.objectValue?.members ?? []).map { ($0.key, Self.known.contains($0.key) ? $0.value : Self.mask) }))
    return "→ "
      + JSONWriter.text(of: ["jsonrpc": "2.0", "id": JSON(id), "method": .string(method), "params": shown])
  }

  /// Returns the line of a result.
  func result(_ id: Int, _ result: JSON, after time: Duration) -> String {
    "← \(Self.text(of: time)) " + JSONWriter.text(of: ["jsonrpc": "2.0", "id": JSON(id), "result": masked(result)])
  }

  /// Returns the line of a failure.
  func failure(_ id: Int, _ error: any Error, after time: Duration) -> String {
    let shown = CommandFailure(error)
    let text = shown.map { failure -> JSON in
      guard let rpc = failure.rpc else {
        return ["message": .string(failure.message), "reason": .string(failure.reason)]
      }
      return ["code": JSON(rpc.code), "message": .string(rpc.message), "data": .object(rpc.data)]
    }
    return "← \(Self.text(of: time)) "
      + JSONWriter.text(of: ["jsonrpc": "2.0", "id": JSON(id), "error": text ?? .string("\(type(of: error))")])
  }

  private static func text(of time: Duration) -> String { Figure.latency(time / .seconds(1)) }

  /// Returns the value with its secrets masked.
  func masked(_ json: JSON) -> JSON {
    switch json {
    case .object(let object):
      .object(
        JSONObject(
          object.members.map { member -> (String, JSON) in
            // `token` is also the name of an object in a session.
            let isSecret = Self.isSecret(member.key) && (member.key != "token" || member.value.objectValue == nil)
            return (member.key, isSecret && !member.value.isNull ? Self.mask : masked(member.value))
          }))
    case .array(let elements): .array(elements.map(masked))
    default: json
    }
  }

  private static func isSecret(_ key: String) -> Bool {
    contractSecrets.contains(key) || otherSecrets.contains(key)
      || ["secret", "password"].contains { key.lowercased().hasSuffix($0) }
  }
}
