import JSONRPC
import SDKProtocol

/// Answers and notifications as the daemon gives them.
enum Samples {
  static let health: JSON = ["status": "ok", "checks": []]

  /// An event with a cursor.
  static func event(_ cursor: String, type: String = "tokenRefreshed") -> JSON {
    [
      "cursor": .string(cursor), "time": "2026-01-02T03:04:05.678Z", "instance": "kiosk", "kind": "test.kind",
      "type": .string(type), "data": [:],
    ]
  }

  /// Its delivery.
  static func delivery(_ cursor: String, type: String = "tokenRefreshed", subscription: String = "s1") -> JSON {
    ["subscription": .string(subscription), "event": event(cursor, type: type)]
  }

  static let shuttingDown = SDKError(.limit, .shuttingDown, "The daemon stops.").rpcError
  static let accessDenied = SDKError.accessDenied("You may not.").rpcError
}
