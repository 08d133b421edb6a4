public import JSONRPC
import SDKProtocol
import Synchronization

/// A reader of settings: objects with snake_case keys, in calls and in the configuration file alike.
public enum Settings {
  /// Checks an object against the JSON schema of a type and decodes it.
  ///
  /// - Throws: `invalidParams` with the member's path below `path`, and the nearest known name for an unknown one.
  public static func decode<T: RPCValue>(_ type: T.Type, from object: JSONObject, at path: String) throws(RPCError) -> T
  {
    guard let shared else { return try read(type, from: object, at: path) }
    if let known: T = shared.value(of: object) { return known }
    let value = try read(type, from: object, at: path)
    shared.keep(value, of: object)
    return value
  }

  /// Runs work that decodes the settings of many instances, most of which have the same ones as the instance before.
  public static func sharing<Value>(_ work: () throws -> Value) rethrows -> Value {
    try $shared.withValue(SharedSettings(), operation: work)
  }

  @TaskLocal private static var shared: SharedSettings?

  private static func read<T: RPCValue>(_ type: T.Type, from object: JSONObject, at path: String) throws(RPCError) -> T
  {
    if let violation = T.jsonSchema.violation(in: .object(object), at: path) { throw .invalidParams(violation) }
    do {
      return try JSONValueDecoder.decode(T.self, from: .object(object))
    } catch let error as SDKError {
      throw .invalidParams(error.message, member: error.member.map { "\(path).\($0)" } ?? path)
    } catch let error as RPCError {
      throw error
    } catch let error as DecodingError {
      let (member, sentence) = error.place(below: path)
      throw .invalidParams(sentence, member: member)
    } catch {
      throw .invalidParams("The \(path) can't be read.", member: path)
    }
  }
}

/// The last settings of each type that were decoded, as long as work for many instances runs: they can have secrets.
private final class SharedSettings: Sendable {
  private let last = Mutex<[ObjectIdentifier: (object: JSONObject, value: any Sendable)]>([:])

  func value<T: Sendable>(of object: JSONObject) -> T? {
    last.withLock { last in
      guard let known = last[ObjectIdentifier(T.self)], known.object == object else { return nil }
      return known.value as? T
    }
  }

  func keep<T: Sendable>(_ value: T, of object: JSONObject) {
    last.withLock { $0[ObjectIdentifier(T.self)] = (object, value) }
  }
}

extension DecodingError {
  /// Returns the member's path and a sentence about the error.
  fileprivate func place(below path: String) -> (member: String, sentence: String) {
    let context: Context? =
      switch self {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      @unknown default: nil
      }
    let member = (context?.codingPath ?? []).reduce(path) { path, key in
      key.intValue.map { "\(path)[\($0)]" } ?? "\(path).\(key.stringValue)"
    }
    return (member, context?.debugDescription ?? "The member \(member) can't be read.")
  }
}
