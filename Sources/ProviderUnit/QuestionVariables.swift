public import JSONRPC

/// The environment variables that repeat a question, for scripts that don't parse JSON.
public enum QuestionVariables {
  /// Returns the variables of a question as a provider receives it.
  ///
  /// They omit a secret external id, which is only in the input: other processes of the same user can see the
  /// environment.
  public static func make(_ question: JSON) -> [String: String] {
    var all: [String: String] = [:]
    all["SDKD_INSTANCE"] = question["instance"]?.stringValue
    all["SDKD_KIND"] = question["kind"]?.stringValue
    all["SDKD_SERVICE"] = question["service"]?.stringValue
    all["SDKD_QUESTION"] = question["question"]?.stringValue
    all["SDKD_ATTEMPT"] = question["attempt"]?.intValue.map(String.init)
    if question["user"]?["isSecret"]?.boolValue != true {
      all["SDKD_EXTERNAL_ID"] = question["user"]?["externalId"]?.stringValue
    }
    return all.filter { !$0.value.utf8.contains(0) }
  }
}
