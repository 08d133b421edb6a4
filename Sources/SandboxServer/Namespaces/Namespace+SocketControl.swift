import Foundation
import JSONRPC

/// The control requests about WebSockets: `GET /_sockets`, `POST /_push`, `POST /_close`.
extension Namespace {
  /// Sends the frame of `{"frame": …}` to the sockets selected by `sdk`, `to`, `socket` and `path`.
  func push(_ body: JSON?) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(body, known: Self.selectors + ["frame", "delayMs"])
    guard let frame = members.value("frame") else { throw ControlMistake("frame", "is missing") }
    let delay = try members.integer("delayMs", in: 0...SandboxLimits.delay) ?? 0
    let sent = try selected(members).filter { send(frame, to: $0, afterMilliseconds: delay) }
    return ["sockets": .array(sent.map { .number(Double($0)) })]
  }

  /// Closes the selected sockets, with a close frame if the request has a `code`.
  func close(_ body: JSON?) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(body, known: Self.selectors + ["code"])
    let code = try members.integer("code", in: 1000...4999)
    let closed = try selected(members)
    for socket in closed { sockets.order(.close(code: code), on: socket) }
    return ["sockets": .array(closed.map { .number(Double($0)) })]
  }

  private static let selectors = ["sdk", "to", "socket", "path"]

  private static func pattern(_ members: ControlMembers) throws(ControlMistake) -> RoutePattern? {
    guard let text = try members.text("path") else { return nil }
    guard text.hasPrefix("/") else { throw ControlMistake("path", "must begin with /") }
    return try RoutePattern(text)
  }

  /// Returns the open sockets that match every given selector; without selectors all open sockets.
  private func selected(_ members: ControlMembers) throws(ControlMistake) -> [Int] {
    let sdk = try members.has("sdk") ? sdk(members) : nil
    let user = try members.text("to")
    let number = try members.integer("socket", in: 1...Int(Int32.max))
    let path = try Self.pattern(members)
    return sockets.entries.filter { id, entry in
      (sdk.map { $0 == entry.backend } ?? true) && (number.map { $0 == id } ?? true)
        && (path?.matches(method: "GET", path: entry.segments) ?? true)
        && (user.map { backends[entry.backend]?.sockets(of: $0).contains(id) == true } ?? true)
    }.keys.sorted()
  }
}
