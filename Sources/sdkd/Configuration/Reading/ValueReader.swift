import JSONRPC
import SDKProtocol

/// A reader of single values in a document, so that a mistake in one leaves the others readable.
///
/// The document's schema has been checked before, so a value with a wrong type is skipped without a message.
struct ValueReader {
  let root: JSON
  let log: MistakeLog
  /// The path of `root` in the document.
  var base = ""

  /// Returns the value at a path; `nil` when it is missing or invalid.
  ///
  /// - Parameter check: an additional check, which returns a sentence about the problem or `nil`.
  func value<T: Decodable>(
    _ type: T.Type = T.self, at path: String, check: (T) -> String? = { _ in nil }
  ) -> T? {
    json(at: path).flatMap { decode($0, at: path, check) }
  }

  /// Returns the valid elements at a path; `nil` when there is no array.
  func elements<T: Decodable>(
    _ type: T.Type = T.self, at path: String, check: (T) -> String? = { _ in nil }
  ) -> [T]? {
    json(at: path)?.arrayValue.map { elements in
      elements.enumerated().compactMap { decode($0.element, at: "\(path)[\($0.offset)]", check) }
    }
  }

  /// Returns an integer within bounds, which the schema has checked too; `nil` otherwise.
  func integer(at path: String, _ bounds: some RangeExpression<Int>) -> Int? {
    json(at: path)?.intValue.flatMap { bounds.contains($0) ? $0 : nil }
  }

  /// Returns a reader of an array's element.
  func element(_ index: Int, of path: String) -> ValueReader {
    let elements = json(at: path)?.arrayValue ?? []
    let element = elements.indices.contains(index) ? elements[index] : .null
    return ValueReader(root: element, log: log, base: base.appending(key: "\(path)[\(index)]"))
  }

  /// Returns a duration from `least` to `most` seconds; `nil` when it is missing or invalid. The mistake for an invalid
  /// one is "This must be `words`."
  func duration(at path: String, from least: UInt32, to most: UInt32, _ words: String) -> Seconds? {
    value(Seconds.self, at: path) {
      ($0 >= Seconds(literal: least) && $0 <= Seconds(literal: most)) ? nil : "This must be \(words)."
    }
  }

  /// Returns the key of two that a mistake about both belongs to: the one that is set, in the later file, or `whole`.
  func key(for part: String, or whole: String) -> String {
    (log.layer(of: whole) ?? -1) >= (log.layer(of: part) ?? -1) ? whole : part
  }

  /// Returns the value at a dotted path of keys; `nil` when there is none.
  func json(at path: String) -> JSON? {
    path.split(separator: ".").reduce(root) { (json: JSON?, key) in json?[String(key)] }
  }

  private func decode<T: Decodable>(
    _ json: JSON, at path: String, _ check: (T) -> String?
  ) -> T? {
    let key = base.appending(key: path)
    guard !log.has(key) else { return nil }
    do {
      let value = try JSONValueDecoder.decode(T.self, from: json)
      guard let complaint = check(value) else { return value }
      log.add(key, complaint)
    } catch DecodingError.dataCorrupted(let context) {
      log.add(key, context.debugDescription)
    } catch {
      // A value of the wrong type is already a finding of the schema.
    }
    return nil
  }
}
