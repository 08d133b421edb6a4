public import JSONRPC
import SDKProtocol

/// A reader of settings: objects with snake_case keys, in calls and in the configuration file alike.
public enum Settings {
  /// Checks an object against the JSON schema of a type and decodes it.
  ///
  /// - Throws: `invalidParams` with the member's path below `path`, and the nearest known name for an unknown one.
  public static func decode<T: RPCValue>(_ type: T.Type, from object: JSONObject, at path: String) throws(RPCError) -> T
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
