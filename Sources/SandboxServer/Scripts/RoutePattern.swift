import Foundation

/// Which requests a script is for: `POST /v2/apps/*/login`, with or without method, with or without the SDK's prefix.
///
/// `WS /ed/ws registerDevice` is for the frames of a WebSocket; without the event for all but pings.
/// `*` stands for one segment, `**` at the end for any number of them.
struct RoutePattern: Equatable, Sendable {
  /// Stands where requests have their method, here and in the log.
  static let frames = "WS"

  /// In capitals; `nil` is any.
  let method: String?
  let segments: [String]
  /// What a frame must be about; `nil` is anything.
  let event: String?
  /// As it was given.
  let text: String

  init(_ text: String) throws(ControlMistake) {
    let words = text.split(separator: " ").map(String.init)
    let isFrame = words.first?.uppercased() == Self.frames
    guard let path = isFrame ? words.dropFirst().first : words.last, words.count <= (isFrame ? 3 : 2),
      path.hasPrefix("/")
    else {
      throw ControlMistake(
        "route", "must be a path that begins with /, with or without a method before it, or \(Self.frames), path, event"
      )
    }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    if segments.dropLast().contains("**") {
      throw ControlMistake("route", "** may only stand at the end")
    }
    if segments.first == "ns" || segments.first?.hasPrefix("_") == true {
      throw ControlMistake("route", "must be an SDK's route; post to /ns/{name}/_control for a namespace")
    }
    self.method = isFrame ? Self.frames : words.count == 2 ? words[0].uppercased() : nil
    self.event = words.count == 3 ? words[2] : nil
    self.segments = segments.last == "" ? segments.dropLast() : segments
    self.text = text
  }

  /// Whether a request is meant; `path` has the SDK's prefix as its first segment and no namespace.
  func matches(method: String, path: [String]) -> Bool {
    if let wanted = self.method, wanted != method.uppercased() { return false }
    return matches(path[...]) || matches(path.dropFirst())
  }

  /// Whether a frame is meant that is about `events`.
  func matches(path: [String], events: [String]) -> Bool {
    (event.map(events.contains) ?? true) && matches(method: Self.frames, path: path)
  }

  private func matches(_ path: ArraySlice<String>) -> Bool {
    let open = segments.last == "**"
    let fixed = open ? segments.dropLast() : segments[...]
    guard open ? path.count >= fixed.count : path.count == fixed.count else { return false }
    return zip(fixed, path).allSatisfy { $0 == "*" || $0 == $1 }
  }
}
