import ArgumentParser
import JSONRPC

/// A text with paths of members in braces: `{instance}\t{user.externalId}`.
struct Template: ExpressibleByArgument, Hashable {
  private enum Part: Hashable {
    case text(String)
    case member([String])
  }

  private let parts: [Part]

  /// Parses a template; `nil` for an unpaired brace. `{{` and `}}` stand for braces, `{}` for the whole object, `\t`
  /// and `\n` for tab and newline.
  init?(argument: String) {
    var parts: [Part] = []
    var text = ""
    var rest = Substring(argument)
    while let character = rest.popFirst() {
      switch (character, rest.first) {
      case ("{", "{"), ("}", "}"):
        text.append(character)
        rest.removeFirst()
      case ("{", _):
        guard let end = rest.firstIndex(of: "}") else { return nil }
        parts += [.text(text), .member(rest[..<end].split(separator: ".").map(String.init))]
        text = ""
        rest = rest[rest.index(after: end)...]
      case ("}", _): return nil
      case ("\\", "t"), ("\\", "n"):
        text.append(rest.removeFirst() == "t" ? "\t" : "\n")
      default: text.append(character)
      }
    }
    self.parts = parts + [.text(text)]
  }

  /// Returns the text for one object; a missing member is empty.
  func text(of json: JSON) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .member(let path): Self.word(path.reduce(json, Self.step))
      }
    }.joined()
  }

  private static func step(_ json: JSON?, _ name: String) -> JSON? {
    if let elements = json?.arrayValue {
      return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
    }
    return json?[name]
  }

  private static func word(_ json: JSON?) -> String {
    switch json {
    case nil, .null?: ""
    case .string(let text)?: SafeText.escaped(text)
    case let value?: SafeText.escaped(JSONWriter.text(of: value))
    }
  }
}
