import Foundation

/// A text frame that has arrived on an open WebSocket.
struct SocketFrame: Sendable {
  /// The socket's number in its namespace.
  var socket: Int
  var text: String
  /// The time of arrival by the sandbox's clock.
  var now: Date

  /// The frame as JSON; `nil` if it is not valid JSON.
  var tree: JSONTree? { JSONTree(parsing: Data(text.utf8)) }

  /// The messages of the frame: the elements of an array, else the single value.
  var messages: [JSONTree] {
    switch tree {
    case .array(let messages)?: messages
    case let message?: [message]
    case nil: []
    }
  }
}
