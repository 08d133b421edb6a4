import Foundation

/// A pattern that selects requests, such as `POST /v2/apps/*/login`. Method and SDK prefix are optional.
///
/// `WS /ed/ws registerDevice` selects frames of a WebSocket; without the event it selects all but pings. `*` stands for
/// one segment, `**` at the end for any number of segments.
struct RoutePattern: Equatable, Sendable {
  /// The word in place of the method for frames, here and in the log.
  static let frames = "WS"

  /// The method in capitals; `nil` for every method.
  let method: String?
  let segments: [String]
  /// The event of the frames; `nil` for every event.
  let event: String?
  /// The pattern as it was given.
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

  /// Whether the pattern selects a request. `path` begins with the SDK's prefix, without namespace.
  func matches(method: String, path: [String]) -> Bool {
    if let wanted = self.method, wanted != method.uppercased() { return false }
    return matches(path[...]) || matches(path.dropFirst())
  }

  /// Whether the pattern selects a frame with these `events`.
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
