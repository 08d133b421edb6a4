import NIOCore
import NIOHTTP1
import NIOWebSocket
import SDKInstances

/// The request to upgrade a connection, and the check of the response (RFC 6455, 4.1).
struct UpgradeRequest: Sendable {
  /// The text of the request.
  let text: String
  private let subprotocols: [String]
  private let key: NIOWebSocketClientUpgrader

  private static let reserved: Set<String> = [
    "host", "connection", "upgrade", "content-length", "transfer-encoding", "sec-websocket-key",
    "sec-websocket-version", "sec-websocket-protocol", "sec-websocket-extensions", "sec-websocket-accept",
  ]

  /// Creates the request; `nil` when a header field or subprotocol is not allowed in one.
  init?(_ parts: SocketRequestParts, to url: VendorURL) {
    let key = NIOWebSocketClientUpgrader.randomRequestKey()
    var text = "GET \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    text += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n"
    guard parts.subprotocols.allSatisfy(UpgradeAnswer.isToken) else { return nil }
    if !parts.subprotocols.isEmpty {
      text += "Sec-WebSocket-Protocol: \(parts.subprotocols.joined(separator: ", "))\r\n"
    }
    for (name, value) in parts.headers {
      guard UpgradeAnswer.isToken(name), !Self.reserved.contains(name.lowercased()),
        value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else { return nil }
      text += "\(name): \(value)\r\n"
    }
    self.text = text + "\r\n"
    subprotocols = parts.subprotocols
    self.key = NIOWebSocketClientUpgrader(requestKey: key) { channel, _ in channel.eventLoop.makeSucceededVoidFuture() }
  }

  /// Checks that the response accepts the upgrade as requested.
  ///
  /// - Throws: `refused` for another status than 101; `network` for an invalid upgrade.
  func check(_ answer: UpgradeAnswer) throws(HTTPFailure) {
    guard answer.status == 101 else {
      let isRedirect = (300..<400).contains(answer.status)
      let location = answer.headers.first { $0.name.lowercased() == "location" }?.value
      throw .refused(status: answer.status, location: isRedirect ? location : nil)
    }
    var headers = HTTPHeaders()
    for (name, value) in answer.headers { headers.add(name: name, value: value) }
    let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
    let chosen = headers["sec-websocket-protocol"]
    guard headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "upgrade" }),
      headers[canonicalForm: "upgrade"].map({ $0.lowercased() }) == ["websocket"],
      key.shouldAllowUpgrade(upgradeResponse: head),
      headers["sec-websocket-extensions"].isEmpty,
      chosen.isEmpty || chosen.count == 1 && chosen.allSatisfy(subprotocols.contains)
    else { throw .network("the answer is no upgrade to a WebSocket that we asked for") }
  }
}
