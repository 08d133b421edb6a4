import Foundation

/// What `POST /_control` prescribes for the next frames of a WebSocket: a route such as `WS /ed/ws registerDevice`.
struct FrameScript: Sendable {
  let route: RoutePattern
  /// How many more frames it is for; `nil` is for ever.
  var remaining: Int?
  /// How long the frame is held back before anything else, in milliseconds; those behind it wait.
  let delay: Int
  /// No answer.
  let drop: Bool
  /// Close the socket, with a close frame when there is a code.
  let close: Bool
  let code: Int?
  /// Sent instead of the backend's answer: a string as it is, anything else as JSON.
  let reply: JSONTree?
  /// Let the backend take the frame in; only its answer to this socket is kept back.
  let passThrough: Bool

  static let known = ["route", "times", "delayMs", "drop", "close", "reply", "passThrough"]

  init(_ tree: JSONTree) throws(ControlMistake) {
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

  /// Whether the frame's answer is anything but the backend's own.
  var isAnswer: Bool { drop || close || reply != nil }

  /// Whether a script is meant for frames rather than for requests.
  static func isMeant(by tree: JSONTree) -> Bool {
    tree["route"]?.text?.split(separator: " ").first?.uppercased() == RoutePattern.frames
  }

  /// As `GET /_control` lists it.
  var tree: JSONTree {
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
