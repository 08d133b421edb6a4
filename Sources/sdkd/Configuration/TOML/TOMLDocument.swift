import JSONRPC
import TOMLKit

/// A TOML text as a value, with the lines of its keys.
struct TOMLDocument: Sendable {
  /// Something that TOML can say and a configuration can't.
  struct Oddity: Sendable, Hashable {
    var path: String
    var message: String
  }

  /// The root table; tables become objects, oddities null.
  let root: JSONObject
  /// Where keys stand.
  let lines: TOMLLineIndex
  /// Values that have no place in a configuration.
  let oddities: [Oddity]

  /// Parses a text.
  ///
  /// - Throws: the first mistake of syntax.
  init(bytes: [UInt8]) throws(TOMLSyntaxProblem) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let line =
        1
        + bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        .prefix { String(validating: $0, as: UTF8.self) != nil }.count
      throw TOMLSyntaxProblem(line: line, message: "The text is not valid UTF-8.")
    }
    // The scanner refuses what the parser would not survive or would cut short: NUL characters and very deep nesting.
    let scanner = try TOMLScanner.scan(bytes)
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw TOMLSyntaxProblem(line: max(1, error.source.begin.line), message: Self.sentence(error.description))
    } catch {
      throw TOMLSyntaxProblem(line: 1, message: "The text is no TOML.")
    }
    lines = scanner
    var conversion = Conversion(lines: scanner)
    root = conversion.object(table, at: "", depth: 0)
    oddities = conversion.oddities
  }

  private static func sentence(_ description: String) -> String {
    let text = String(description.prefix(200))
    return text.hasSuffix(".") ? text : "\(text)."
  }
}

/// From TOMLKit's values to ours. Its own iterators and `Decodable` are avoided: they unwrap by force.
private struct Conversion {
  let lines: TOMLLineIndex
  var oddities: [TOMLDocument.Oddity] = []

  /// More than the scanner lets through.
  static let maximumDepth = 1024

  mutating func object(_ table: TOMLTable, at path: String, depth: Int) -> JSONObject {
    // TOMLKit sorts by name; the order of the text is what messages and merges expect.
    let keys = table.keys.map { (key: $0, line: lines.line(of: path.appending(key: $0))) }.sorted { $0.line < $1.line }
    var pairs: [(String, JSON)] = []
    for (key, _) in keys {
      let inner = path.appending(key: key)
      if let value = table[key] { pairs.append((key, json(value, at: inner, depth: depth + 1))) }
    }
    return JSONObject(pairs)
  }

  private mutating func json(_ value: any TOMLValueConvertible, at path: String, depth: Int) -> JSON {
    guard depth < Self.maximumDepth else { return odd(path, "This is nested too deep.") }
    switch value.type {
    case .table: return value.table.map { .object(object($0, at: path, depth: depth)) } ?? .null
    case .array:
      guard let array = value.array else { return .null }
      var elements: [JSON] = []
      for index in 0..<array.count {
        elements.append(json(array[index], at: "\(path)[\(index)]", depth: depth + 1))
      }
      return .array(elements)
    case .string: return value.string.map(JSON.string) ?? .null
    case .bool: return value.bool.map(JSON.bool) ?? .null
    case .int: return value.int.map { JSON($0) } ?? .null
    case .double:
      guard let double = value.double, double.isFinite else {
        return odd(path, "This must be a finite number; inf and nan have no meaning here.")
      }
      return JSON(double)
    case .date, .time, .dateTime:
      return odd(path, "Dates and times have no meaning here; text stands in quotes.")
    }
  }

  private mutating func odd(_ path: String, _ message: String) -> JSON {
    oddities.append(.init(path: path, message: message))
    return .null
  }
}
