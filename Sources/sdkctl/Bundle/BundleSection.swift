import JSONRPC

/// A part of a support bundle: what one source gave, or why it gave nothing.
struct BundleSection {
  /// The result of the gathering.
  enum Content: Hashable {
    /// The text, and the number of bytes that were left out of it.
    case text(String, omitted: Int)
    /// The reason why there is no text.
    case missing(String)
  }

  /// The end of a text that is kept when the text is too long.
  enum Keeping {
    case beginning, end
  }

  /// The number of bytes that are kept of a section.
  static let limit = 256 << 10

  /// The name, one or two words.
  let name: String
  /// The command, call or file that it comes from.
  let source: String
  let content: Content

  /// Creates a section of a text.
  init(_ name: String, from source: String, _ text: String, keeping: Keeping = .beginning) {
    self.name = name
    self.source = source
    content = Self.clipped(text, keeping)
  }

  /// Creates a section of what `gather` returns. When that throws, the section has the reason.
  init(
    _ name: String, from source: String, keeping: Keeping = .beginning, gather: () async throws -> String
  ) async {
    do {
      self.init(name, from: source, try await gather(), keeping: keeping)
    } catch {
      self.init(name, from: source, missing: CommandFailure(error)?.message ?? "It could not be read.")
    }
  }

  private init(_ name: String, from source: String, missing reason: String) {
    self.name = name
    self.source = source
    content = .missing(reason)
  }

  /// Returns a text of whole lines within the limit.
  private static func clipped(_ text: String, _ keeping: Keeping) -> Content {
    let all = text.utf8.count
    guard all > limit else { return .text(text, omitted: 0) }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    var rest = all
    while rest > limit, let line = keeping == .end ? lines.popFirst() : lines.popLast() { rest -= line.utf8.count + 1 }
    let kept = lines.joined(separator: "\n")
    return .text(kept, omitted: all - kept.utf8.count)
  }

  /// The section as text, whose lines hold no control characters.
  var text: String {
    let body: String
    switch content {
    case .missing(let reason): body = "Not gathered: \(reason)"
    case .text(let text, let omitted):
      body = text + (omitted == 0 ? "" : "\nToo long: \(omitted) bytes more are left out.")
    }
    let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
    return (["===== \(name): \(source)"] + lines.map { SafeText.escaped(String($0)) }).joined(separator: "\n") + "\n"
  }

  /// The number of bytes of the text; `nil` if nothing was gathered.
  var size: Int? { if case .text(let text, _) = content { text.utf8.count } else { nil } }

  /// The section without its text, for programs.
  var json: JSON {
    var object: JSONObject = ["section": .string(name), "source": .string(source)]
    switch content {
    case .text(let text, let omitted):
      object["bytes"] = JSON(text.utf8.count)
      if omitted > 0 { object["omittedBytes"] = JSON(omitted) }
    case .missing(let reason): object["missing"] = .string(reason)
    }
    return .object(object)
  }
}
