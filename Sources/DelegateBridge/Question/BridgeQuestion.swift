public import JSONRPC
public import SDKProtocol

/// A question to a delegate or a token provider (`provider.md`, "Questions and answers").
public struct BridgeQuestion: Sendable, Hashable {
  /// The name of the question.
  public typealias Name = DelegateQuestion.Name

  /// The user for whom the credential is requested.
  public struct User: Sendable, Hashable {
    /// The vendor's id of the user.
    public var id: String?
    /// The owner's id of the user.
    public var externalId: String?

    /// Creates a user with these ids.
    public init(id: String? = nil, externalId: String? = nil) {
      self.id = id
      self.externalId = externalId
    }
  }

  /// The failure that causes the question.
  public struct Failure: Sendable, Hashable {
    /// The stable name of the cause.
    public var reason: Reason
    /// The vendor's error code.
    public var code: String?
    /// The vendor's error description.
    public var description: String?
    /// The vendor's HTTP status.
    public var httpStatus: Int?

    /// Creates a failure with these parts.
    public init(reason: Reason, code: String? = nil, description: String? = nil, httpStatus: Int? = nil) {
      self.reason = reason
      self.code = code
      self.description = description
      self.httpStatus = httpStatus
    }
  }

  public var name: Name
  public var instance: InstanceID
  public var kind: KindName
  public var service: String?
  /// The number of the attempt, from 1.
  public var attempt: Int
  public var user: User?
  public var error: Failure?
  /// Whether the user's external id is a secret. A provider then gets the id on standard input only, not in the
  /// environment.
  public var concealsExternalId = false
  /// The host of the vendor, with the port where it has one. It is not part of the question's JSON.
  public var host: String?
  /// The time after which an answer is too late. No wait and no run exceeds it.
  public var deadline: Timestamp

  /// Creates a question with these parts.
  public init(
    _ name: Name, instance: InstanceID, kind: KindName, service: String? = nil, attempt: Int = 1, user: User? = nil,
    error: Failure? = nil, deadline: Timestamp
  ) {
    self.name = name
    self.instance = instance
    self.kind = kind
    self.service = service
    self.attempt = attempt
    self.user = user
    self.error = error
    self.deadline = deadline
  }

  /// The time until which a delegate may answer. Beyond `deadline` for a question that a person may have to answer.
  public var delegateDeadline: Timestamp { personalDeadline ?? deadline }

  /// The end of the time that a delegate has for a question that a person may have to answer; `nil` for other questions.
  public var personalDeadline: Timestamp?

  /// The seconds for which a delegate may wait for a person's answer.
  public static let personalTime = 600.0

  /// Returns the question with this deadline, unless its own is earlier.
  public func due(by deadline: Timestamp) -> BridgeQuestion {
    var question = self
    question.deadline = min(question.deadline, deadline)
    return question
  }

  /// The question in JSON form, as delegates receive it in `params`. `providerInput` is the form for providers.
  public var json: JSON {
    var object: JSONObject = [
      "version": 1, "question": .string(name.rawValue), "instance": .string(instance.name), "kind": .string(kind.name),
    ]
    object["service"] = service.map(JSON.string)
    object["attempt"] = JSON(attempt)
    object["user"] = user.map { JSON.object($0.members) }
    object["error"] = error.map { JSON.object($0.members) }
    object["deadline"] = .string(deadline.description)
    return .object(object)
  }

  /// The question as providers receive it: `isSecret` marks an external id that is a secret.
  var providerInput: JSON {
    guard concealsExternalId, user?.externalId != nil, var object = json.objectValue,
      var user = object["user"]?.objectValue
    else { return json }
    user["isSecret"] = true
    object["user"] = .object(user)
    return .object(object)
  }
}

extension BridgeQuestion.User {
  fileprivate var members: JSONObject {
    var object = JSONObject()
    object["id"] = id.map(JSON.string)
    object["externalId"] = externalId.map(JSON.string)
    return object
  }
}

extension BridgeQuestion.Failure {
  fileprivate var members: JSONObject {
    var object: JSONObject = ["reason": .string(reason.rawValue)]
    object["code"] = code.map(JSON.string)
    object["description"] = description.map(JSON.string)
    object["httpStatus"] = httpStatus.map { JSON($0) }
    return object
  }
}

/// The identity of a credential: an instance and, where it has several, one of its services.
///
/// Each key has at most one question in progress and a breaker of its own.
public struct BridgeKey: Sendable, Hashable, CustomStringConvertible {
  /// The uuid of the instance. A new instance under an old name starts with a new breaker.
  public let instance: String
  /// The service, for kinds that have several.
  public let service: String?

  /// Creates the key of an instance's service.
  public init(instance: String, service: String? = nil) {
    self.instance = instance
    self.service = service
  }

  public var description: String { service.map { "\(instance)/\($0)" } ?? instance }
}
