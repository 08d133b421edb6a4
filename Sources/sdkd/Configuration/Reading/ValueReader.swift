import JSONRPC
import SDKProtocol

/// Takes values out of a document one by one, so that a mistake in one leaves the others readable.
///
/// What a value's shape is has been checked with the document's; what has the wrong one is passed over in silence.
struct ValueReader {
  let root: JSON
  let log: MistakeLog
  /// Where the root stands in the document.
  var base = ""

  /// The value at a path; `nil` when there is none or it is wrong.
  ///
  /// - Parameter check: what else must hold; a sentence says what doesn't.
  func value<T: Decodable>(
    _ type: T.Type = T.self, at path: String, check: (T) -> String? = { _ in nil }
  ) -> T? {
    json(at: path).flatMap { decode($0, at: path, check) }
  }

  /// The elements at a path that are right; `nil` when there is no array.
  func elements<T: Decodable>(
    _ type: T.Type = T.self, at path: String, check: (T) -> String? = { _ in nil }
  ) -> [T]? {
    json(at: path)?.arrayValue.map { elements in
      elements.enumerated().compactMap { decode($0.element, at: "\(path)[\($0.offset)]", check) }
    }
  }

  /// A whole number within the bounds that the schema has too.
  func integer(at path: String, _ bounds: some RangeExpression<Int>) -> Int? {
    json(at: path)?.intValue.flatMap { bounds.contains($0) ? $0 : nil }
  }

  /// The element of an array, to read in.
  func element(_ index: Int, of path: String) -> ValueReader {
    let elements = json(at: path)?.arrayValue ?? []
    let element = elements.indices.contains(index) ? elements[index] : .null
    return ValueReader(root: element, log: log, base: base.appending(key: "\(path)[\(index)]"))
  }

  /// A duration within bounds, both included.
  func duration(at path: String, from least: UInt32, to most: UInt32, _ words: String) -> Seconds? {
    value(Seconds.self, at: path) {
      ($0 >= Seconds(literal: least) && $0 <= Seconds(literal: most)) ? nil : "This must be \(words)."
    }
  }

  /// What stands at a dotted path of keys.
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
      // Of another type: a finding of the schema.
    }
    return nil
  }
}
