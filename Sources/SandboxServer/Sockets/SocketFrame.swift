import Foundation

/// A text frame that has arrived on an open WebSocket.
struct SocketFrame: Sendable {
  /// The socket's number in its namespace.
  var socket: Int
  var text: String
  /// By the sandbox's clock.
  var now: Date

  /// The frame as JSON; `nil` when it is none.
  var tree: JSONTree? { JSONTree(parsing: Data(text.utf8)) }

  /// Its messages: the elements of an array, else the one that it is.
  var messages: [JSONTree] {
    switch tree {
    case .array(let messages)?: messages
    case let message?: [message]
    case nil: []
    }
  }
}
