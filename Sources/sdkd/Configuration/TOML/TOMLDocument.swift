import JSONRPC
import TOMLKit

/// A parsed TOML text, with the lines of its keys.
struct TOMLDocument: Sendable {
  /// The root table; tables become objects.
  let root: JSONObject
  /// The lines of the keys.
  let lines: TOMLLineIndex

  /// Parses a text.
  ///
  /// - Throws: the first syntax error.
  init(bytes: [UInt8]) throws(TOMLSyntaxProblem) {
    if let nul = bytes.firstIndex(of: 0) {
      let line = 1 + bytes[..<nul].count { $0 == 0x0A }
      throw TOMLSyntaxProblem(line: line, message: "A NUL character can't stand in a configuration.")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw TOMLSyntaxProblem(line: Self.firstBrokenLine(of: bytes), message: "The text is not valid UTF-8.")
    }
    lines = try TOMLScanner.scan(bytes)
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw TOMLSyntaxProblem(line: max(1, error.source.begin.line), message: Self.sentence(error.description))
    } catch {
      throw TOMLSyntaxProblem(line: 1, message: "The text is no TOML.")
    }
    root = try Self.object(table, at: "", lines)
  }

  private static func firstBrokenLine(of bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    return 1 + lines.prefix { String(validating: $0, as: UTF8.self) != nil }.count
  }

  private static func sentence(_ description: String) -> String {
    let text = String(description.prefix(200))
    return text.hasSuffix(".") ? text : "\(text)."
  }
}

/// The conversion from TOMLKit's values to ours. Its iterators and `Decodable` are not used, since they force-unwrap.
extension TOMLDocument {
  private static func object(
    _ table: TOMLTable, at path: String, _ lines: TOMLLineIndex
  ) throws(TOMLSyntaxProblem) -> JSONObject {
    // TOMLKit sorts by name, but messages should follow the order of the text.
    let keys = table.keys.map { (name: $0, line: lines.line(of: path.appending(key: $0))) }.sorted { $0.line < $1.line }
    var pairs: [(String, JSON)] = []
    for key in keys {
      guard let value = table[key.name] else { continue }
      pairs.append((key.name, try json(value, at: path.appending(key: key.name), lines)))
    }
    return JSONObject(pairs)
  }

  private static func json(
    _ value: any TOMLValueConvertible, at path: String, _ lines: TOMLLineIndex
  ) throws(TOMLSyntaxProblem) -> JSON {
    switch value.type {
    case .table:
      if let table = value.table { return .object(try object(table, at: path, lines)) }
    case .array:
      if let array = value.array {
        var elements: [JSON] = []
        for index in 0..<array.count { elements.append(try json(array[index], at: "\(path)[\(index)]", lines)) }
        return .array(elements)
      }
    case .string: if let string = value.string { return .string(string) }
    case .bool: if let bool = value.bool { return .bool(bool) }
    case .int: if let int = value.int { return JSON(int) }
    case .double: if let double = value.double, double.isFinite { return JSON(double) }
    case .date, .time, .dateTime: break
    }
    // Dates, times, and numbers too large for a finite `Double` have no JSON value.
    throw TOMLSyntaxProblem(line: lines.line(of: path), message: "This value has no meaning here.")
  }
}
