import Foundation

/// Which requests a script is for: `POST /v2/apps/*/login`, with or without method, with or without the SDK's prefix.
///
/// `*` stands for one segment, `**` at the end for any number of them.
struct RoutePattern: Equatable, Sendable {
  /// In capitals; `nil` is any.
  let method: String?
  let segments: [String]
  /// As it was given.
  let text: String

  init(_ text: String) throws(ControlMistake) {
    let words = text.split(separator: " ").map(String.init)
    guard let path = words.last, words.count <= 2, path.hasPrefix("/") else {
      throw ControlMistake("route", "must be a path that begins with /, with or without a method before it")
    }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    if segments.dropLast().contains("**") {
      throw ControlMistake("route", "** may only stand at the end")
    }
    if segments.first == "ns" || segments.first?.hasPrefix("_") == true {
      throw ControlMistake("route", "must be an SDK's route; post to /ns/{name}/_control for a namespace")
    }
    self.method = words.count == 2 ? words[0].uppercased() : nil
    self.segments = segments.last == "" ? segments.dropLast() : segments
    self.text = text
  }

  /// Whether a request is meant; `path` has the SDK's prefix as its first segment and no namespace.
  func matches(method: String, path: [String]) -> Bool {
    if let wanted = self.method, wanted != method.uppercased() { return false }
    return matches(path[...]) || matches(path.dropFirst())
  }

  private func matches(_ path: ArraySlice<String>) -> Bool {
    let open = segments.last == "**"
    let fixed = open ? segments.dropLast() : segments[...]
    guard open ? path.count >= fixed.count : path.count == fixed.count else { return false }
    return zip(fixed, path).allSatisfy { $0 == "*" || $0 == $1 }
  }
}
