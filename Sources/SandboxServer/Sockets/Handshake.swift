import Foundation

extension SandboxRequest {
  /// Whether the client requests a WebSocket.
  var isUpgrade: Bool { header("Upgrade")?.lowercased() == "websocket" }

  /// The fault of the opening handshake (RFC 6455, 4.2.1); `nil` for a valid one.
  var handshakeMistake: String? {
    let connection = (header("Connection") ?? "").lowercased().split(separator: ",")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    if method.uppercased() != "GET" { return "an upgrade is a GET" }
    if header("Host") == nil { return "Host is missing" }
    if !connection.contains("upgrade") { return "Connection does not include upgrade" }
    if header("Sec-WebSocket-Key").flatMap({ Data(base64Encoded: $0) })?.count != 16 {
      return "Sec-WebSocket-Key is not base64 of 16 bytes"
    }
    return header("Sec-WebSocket-Version") == "13" ? nil : "Sec-WebSocket-Version is not 13"
  }
}
