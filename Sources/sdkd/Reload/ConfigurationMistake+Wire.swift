import JSONRPC
import SDKProtocol

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
