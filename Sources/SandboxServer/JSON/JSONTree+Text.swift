import Foundation

extension JSONTree: Codable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let elements = try? value.decode([JSONTree].self) {
      self = .array(elements)
    } else {
      self = .object(try value.decode([String: JSONTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .number(let number):
      // Write 3, not 3.0: clients decode counts and times as integers.
      if let whole = Int(exactly: number) { try value.encode(whole) } else { try value.encode(number) }
    case .string(let text): try value.encode(text)
    case .array(let elements): try value.encode(elements)
    case .object(let members): try value.encode(members)
    }
  }
}

extension JSONTree {
  /// Parses a JSON text; `nil` if the text is not valid JSON or is nested more than 64 levels deep.
  init?(parsing text: Data) {
    // The decoder tries every kind of value at each level, so its time grows with the depth. No SDK sends such depths.
    guard Self.depth(of: text) <= 64, let tree = try? JSONDecoder().decode(JSONTree.self, from: text) else {
      return nil
    }
    self = tree
  }

  /// The value as JSON text, with members sorted by name.
  var encoded: Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)) ?? Data("null".utf8)
  }

  /// Returns an upper bound of the nesting depth: brackets inside strings count too.
  private static func depth(of text: Data) -> Int {
    var depth = 0
    var deepest = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        deepest = max(deepest, depth)
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
      default: break
      }
    }
    return deepest
  }
}
