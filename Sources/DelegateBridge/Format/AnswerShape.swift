public import JSONRPC
public import SDKProtocol

/// The members that answer each question (`provider.md`, "Questions and answers").
enum AnswerShape {
  /// Returns the schema of the answers to a question, for all kinds.
  static func schema(of question: BridgeQuestion.Name) -> JSONSchema {
    switch question {
    case .getToken, .invalidAuth: DelegateTokenAnswer.jsonSchema
    case .shouldAuthenticate: DelegateServiceAnswer.jsonSchema
    case .authenticationFailed: DelegateGuestAnswer.jsonSchema
    }
  }

  /// Checks an object and returns it as an answer.
  ///
  /// - Throws: `providerOutputInvalid`, with the nearest known name for an unknown member.
  static func check(
    _ object: JSONObject, _ question: BridgeQuestion, by who: Answerer = .provider
  ) throws(SDKError) -> BridgeAnswer {
    let schema = schema(of: question.name)
    if let violation = schema.violation(in: .object(object)) { throw .output(words(violation, question), by: who) }
    var object = object
    for member in object.members where member.value.isNull { object[member.key] = nil }
    let answer = BridgeAnswer(members: object)
    if object["defer"] != nil {
      guard answer.isDeferred, object.count == 1 else {
        throw .output("answered with defer and more; {\"defer\": true} alone passes the question on", by: who)
      }
      return answer
    }
    if object["expiresAt"] != nil, answer.expiresAt == nil {
      throw .output("gave an expiresAt that is no time; it must be RFC 3339 or seconds since 1970", by: who)
    }
    for name in ["token", "uniqueId", "signature", "accessToken"] where object[name]?.stringValue?.isEmpty == true {
      throw .output("answered with an empty \(name)", by: who)
    }
    let needed = needed(for: question.name)
    guard needed.contains(where: { object[$0] != nil }) else {
      throw .output("answered \(question.name.rawValue) without \(needed.joined(separator: " or "))", by: who)
    }
    return answer
  }

  private static func needed(for question: BridgeQuestion.Name) -> [String] {
    switch question {
    case .getToken, .invalidAuth: ["token", "uniqueId", "signature", "accessToken"]
    case .shouldAuthenticate: ["authenticate"]
    case .authenticationFailed: ["proceed"]
    }
  }

  /// Describes a violation without the unknown member's name, which may be a misplaced secret.
  private static func words(_ violation: JSONSchemaViolation, _ question: BridgeQuestion) -> String {
    let known = (schema(of: question.name).members ?? []).map(\.name)
    switch violation.problem {
    case .unknown(let nearest?, _):
      return "answered \(question.name.rawValue) with an unknown member; did it mean \(nearest)?"
    case .unknown(nil, _):
      return "answered \(question.name.rawValue) with an unknown member; known are \(known.joined(separator: ", "))"
    case .missing: return "answered \(question.name.rawValue) without \(violation.member)"
    case .wrong(let expected): return "answered with a wrong \(violation.member); it must be \(expected)"
    }
  }
}

/// The author of an answer, as the first words of a sentence in messages.
enum Answerer: String, Sendable {
  case provider = "The token provider"
  case delegate = "The delegate"
}

extension BridgeAnswer {
  /// The longest answer of a delegate, in bytes. The same as the default `maxOutput` of a provider.
  private static let maximumBytes = 64 << 10

  /// Creates an answer from a delegate's result.
  ///
  /// - Throws: `providerOutputInvalid`, without anything of the result in its message.
  public init(delegateResult result: JSON, to question: BridgeQuestion) throws(SDKError) {
    guard let object = result.objectValue else {
      throw .output("answered with a \(result.typeName); it must be an object", by: .delegate)
    }
    guard JSONWriter.bytes(of: result).count <= Self.maximumBytes else {
      throw .output("answered with more than \(Self.maximumBytes) bytes", by: .delegate)
    }
    self = try AnswerShape.check(object, question, by: .delegate)
  }
}
