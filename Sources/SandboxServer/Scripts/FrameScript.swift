import Foundation
import JSONRPC

/// A script for frames of a WebSocket, posted to `/_control` with a route such as `WS /ed/ws registerDevice`.
struct FrameScript: Sendable {
  let route: RoutePattern
  /// The number of frames that the script still applies to; `nil` for no limit.
  var remaining: Int?
  /// The delay before the frame is handled, in milliseconds. The frames behind it wait too.
  let delay: Int
  /// Whether the frame gets no response.
  let drop: Bool
  /// Whether to close the socket, with a close frame if there is a `code`.
  let close: Bool
  let code: Int?
  /// The response in place of the backend's: a string is sent as it is, anything else as JSON.
  let reply: JSON?
  /// Whether the backend handles the frame all the same. Its responses on this socket are discarded.
  let passThrough: Bool

  static let known = ["route", "times", "delayMs", "drop", "close", "reply", "passThrough"]

  init(_ tree: JSON) throws(ControlMistake) {
    let members = try ControlMembers(tree, known: Self.known)
    route = try RoutePattern(try members.requiredText("route"))
    remaining = try ResponseScript.times(members)
    delay = try members.integer("delayMs", in: 0...SandboxLimits.delay) ?? 0
    drop = try members.flag("drop")
    reply = members.value("reply")
    passThrough = try members.flag("passThrough")
    if case .number? = members.value("close") {
      code = try members.integer("close", in: 1000...4999)
      close = true
    } else {
      code = nil
      close = try members.flag("close")
    }
    if drop, close || reply != nil { throw ControlMistake("drop", "can't be given with close or reply") }
    if !isAnswer, delay == 0 { throw ControlMistake(nil, "one of drop, close, reply and delayMs must be given") }
    if !isAnswer, passThrough { throw ControlMistake("passThrough", "goes with drop, close or reply") }
  }

  /// Whether the script replaces the backend's response.
  var isAnswer: Bool { drop || close || reply != nil }

  /// Whether a script is for frames, not for requests.
  static func isMeant(by tree: JSON) -> Bool {
    tree["route"]?.stringValue?.split(separator: " ").first?.uppercased() == RoutePattern.frames
  }

  /// The script as `GET /_control` lists it.
  var tree: JSON {
    .of([
      "route": .string(route.text),
      "times": remaining.map { .number(Double($0)) } ?? "forever",
      "delayMs": delay == 0 ? nil : .number(Double(delay)),
      "drop": drop ? true : nil,
      "close": code.map { .number(Double($0)) } ?? (close ? true : nil),
      "reply": reply,
      "passThrough": passThrough ? true : nil,
    ])
  }
}
