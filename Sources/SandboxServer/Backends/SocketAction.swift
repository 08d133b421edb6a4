import Foundation
import JSONRPC

/// An action of a backend on an open WebSocket.
enum SocketAction: Equatable, Sendable {
  /// Sends a text frame after a delay, if the socket is still open then.
  case send(JSON, to: Int, afterMilliseconds: Int = 0)
  /// Closes the socket with a close frame of this code (RFC 6455, 7.4). Without a code, cuts the connection.
  case close(Int, code: Int?)

  /// The number of the socket.
  var socket: Int {
    switch self {
    case .send(_, let socket, _), .close(let socket, _): socket
    }
  }
}

/// A command for the connection of an open WebSocket.
enum SocketCommand: Equatable, Sendable {
  /// Sends a text frame after a delay.
  case send(String, afterMilliseconds: Int)
  /// Sends a close frame with this code and closes the connection. Without a code, only closes the connection.
  case close(code: Int?)
}

/// A text frame that has arrived on an open WebSocket.
struct SocketFrame: Sendable {
  /// The socket's number in its namespace.
  var socket: Int
  var text: String
  /// The time of arrival by the sandbox's clock.
  var now: Date

  /// The frame as JSON; `nil` if it is not valid JSON.
  var tree: JSON? { JSON(parsing: Data(text.utf8)) }

  /// The messages of the frame: the elements of an array, else the single value.
  var messages: [JSON] {
    switch tree {
    case .array(let messages)?: messages
    case let message?: [message]
    case nil: []
    }
  }
}
