import JSONRPC
import SDKProtocol

/// Sample responses and notifications of the daemon.
enum Samples {
  static let health: JSON = ["status": "ok", "checks": []]

  /// Returns an event with this cursor.
  static func event(_ cursor: String, type: String = "tokenRefreshed") -> JSON {
    [
      "cursor": .string(cursor), "time": "2026-01-02T03:04:05.678Z", "instance": "kiosk", "kind": "test.kind",
      "type": .string(type), "data": [:],
    ]
  }

  /// Returns the params of the notification that delivers such an event.
  static func delivery(_ cursor: String, type: String = "tokenRefreshed", subscription: String = "s1") -> JSON {
    ["subscription": .string(subscription), "event": event(cursor, type: type)]
  }

  static let shuttingDown = SDKError(.limit, .shuttingDown, "The daemon stops.").rpcError
  static let accessDenied = SDKError.accessDenied("You may not.").rpcError
}
