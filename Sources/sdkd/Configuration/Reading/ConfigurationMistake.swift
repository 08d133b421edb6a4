import JSONRPC
import SDKProtocol

/// A mistake in a configuration file, with the details needed to find and correct it.
struct ConfigurationMistake: Error, Sendable, Hashable {
  /// The file as it was opened.
  var file: String
  /// The line, from 1; `nil` when the mistake concerns the file as a whole.
  var line: Int?
  /// The key's dotted path, such as `access.create[0].prefix`; `nil` for none.
  var key: String?
  /// The problem and its correction. Never contains a value, which may be secret.
  var message: String
  /// The valid name nearest to an unknown one.
  var nearest: String?
}

extension ConfigurationMistake: CustomStringConvertible {
  /// `FILE:LINE: KEY: MESSAGE`, without unknown parts.
  var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return [place, key, message].compactMap(\.self).joined(separator: ": ")
  }
}

extension ConfigurationMistake {
  /// The number of mistakes that fit into a response, however long their messages are.
  private static let most = 100

  /// Returns the error for the caller of a reload. It contains every mistake, up to a hundred.
  static func refusal(_ mistakes: [ConfigurationMistake]) -> RPCError {
    let count = mistakes.count == 1 ? "a mistake" : "\(mistakes.count) mistakes"
    return RPCError(
      code: SDKError.Origin.store.rawValue, reason: Reason.invalidConfiguration.rawValue,
      message: "The configuration has \(count) and nothing was changed; mend what is listed and reload again.",
      data: [
        "mistakes": .array(mistakes.prefix(most).map(\.json)), "count": JSON(mistakes.count),
      ])
  }

  private var json: JSON {
    var object: JSONObject = ["file": .string(file)]
    if let line { object["line"] = JSON(line) }
    if let key { object["key"] = .string(String(key.prefix(128))) }
    object["message"] = .string(String(message.prefix(256)))
    if let nearest { object["nearest"] = .string(nearest) }
    return .object(object)
  }
}
