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
  /// Resolves the secrets that values refer to.
  var secrets = SecretSource(credentialsDirectory: nil)

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
  func integer(at path: String, _ bounds: ClosedRange<Int>) -> Int? {
    json(at: path)?.intValue.flatMap { bounds.contains($0) ? $0 : nil }
  }

  /// Returns a reader of an array's element.
  func element(_ index: Int, of path: String) -> ValueReader {
    let elements = json(at: path)?.arrayValue ?? []
    let element = elements.indices.contains(index) ? elements[index] : .null
    return ValueReader(root: element, log: log, base: base.appending(key: "\(path)[\(index)]"), secrets: secrets)
  }

  /// Returns a duration; `nil` when it is missing or invalid.
  ///
  /// - Parameters:
  ///   - range: the range, in seconds.
  ///   - zero: whether 0 is valid, too.
  ///   - words: what the mistake says that the duration must be; by default the range.
  func duration(
    at path: String, _ range: ClosedRange<UInt32>, or zero: Bool = false, words: String? = nil
  ) -> Duration? {
    let most = Seconds.text(of: .seconds(range.upperBound))
    let least = range.lowerBound == 0 ? nil : Seconds.text(of: .seconds(range.lowerBound))
    let usual = least.map { "from \($0) to \(most)" } ?? "at most \(most)"
    return value(Seconds.self, at: path) {
      let isInRange = $0 >= Seconds(literal: range.lowerBound) && $0 <= Seconds(literal: range.upperBound)
      return isInRange || zero && $0.value == 0 ? nil : "This must be \(words ?? usual)."
    }?.duration
  }

  /// Adds a mistake if one setting of a table exceeds another one that it is a part of.
  func check(_ part: (key: String, value: Int), isWithin whole: (key: String, value: Int), of table: String) {
    guard part.value > whole.value else { return }
    log.add(
      key(for: "\(table).\(part.key)", or: "\(table).\(whole.key)"),
      "\(whole.key) must be at least \(part.key): it counts those too.")
  }

  /// Returns the key of two that a mistake about both belongs to: the one that is set, in the later file, or `whole`.
  private func key(for part: String, or whole: String) -> String {
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
