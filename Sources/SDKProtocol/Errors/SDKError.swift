public import JSONRPC

/// An error of the daemon's own, as `protocol.md` lists them.
public struct SDKError: Error, Sendable, Hashable {
  /// Who or what refused: the error's code on the wire.
  public enum Origin: Int, Sendable, Codable {
    case access = -32001
    case missing = -32002
    case existing = -32003
    case state = -32010
    case local = -32020
    case vendor = -32021
    case unreachable = -32030
    case provider = -32040
    case limit = -32050
    case store = -32060
  }

  /// Who refused.
  public var origin: Origin
  /// The stable name.
  public var reason: Reason
  /// One sentence: what happened and what to do next. Never holds a secret.
  public var message: String
  /// The instance in question.
  public var instance: InstanceID?
  /// The member in question.
  public var member: String?
  /// Seconds after which another attempt makes sense.
  public var retryAfter: Double?
  /// The vendor's HTTP status.
  public var httpStatus: Int?
  /// The vendor's own code.
  public var vendorCode: String?
  /// The vendor's own words.
  public var vendorDescription: String?
  /// What may be the cause; findings of the lint.
  public var hints: [String]
  /// Whether somebody has to act before the same call can succeed, though the reason is one that can pass by itself.
  public var isPermanent = false

  /// An error with these parts.
  public init(
    _ origin: Origin, _ reason: Reason, _ message: String, instance: InstanceID? = nil, member: String? = nil,
    retryAfter: Double? = nil, httpStatus: Int? = nil, vendorCode: String? = nil,
    vendorDescription: String? = nil, hints: [String] = []
  ) {
    self.origin = origin
    self.reason = reason
    self.message = message.clipped(toUTF8: Self.maximumMessageBytes)
    self.instance = instance
    self.member = member?.clipped(toUTF8: Self.maximumHintBytes)
    self.retryAfter = retryAfter
    self.httpStatus = httpStatus
    self.vendorCode = vendorCode?.clipped(toUTF8: 128)
    self.vendorDescription = vendorDescription?.clipped(toUTF8: 512)
    self.hints = hints.prefix(16).map { $0.clipped(toUTF8: Self.maximumHintBytes) }
  }

  /// The same error, for a cause that does not pass by itself.
  public var permanent: SDKError {
    var copy = self
    copy.isPermanent = true
    return copy
  }

  /// The UTF-8 bytes of a message: it may quote a peer or a vendor.
  private static let maximumMessageBytes = 2048
  /// The UTF-8 bytes of a member's path and of a hint.
  private static let maximumHintBytes = 512

  /// The same error about an instance.
  public func about(_ instance: InstanceID) -> SDKError {
    var copy = self
    copy.instance = instance
    return copy
  }
}

extension SDKError: RPCErrorConvertible {
  /// The error as it goes on the wire.
  public var rpcError: RPCError {
    var data = JSONObject()
    if let instance { data["instance"] = .string(instance.name) }
    if let member { data["member"] = .string(member) }
    if let retryAfter { data["retryAfter"] = JSON(max(0, (retryAfter * 1000).rounded(.up) / 1000)) }
    if let httpStatus { data["httpStatus"] = JSON(httpStatus) }
    if let vendorCode { data["vendorCode"] = .string(vendorCode) }
    if let vendorDescription { data["vendorDescription"] = .string(vendorDescription) }
    if !hints.isEmpty { data["hints"] = .array(hints.map(JSON.string)) }
    return RPCError(
      code: origin.rawValue, reason: reason.rawValue, retryable: reason.isRetryable && !isPermanent, message: message,
      data: data)
  }
}

extension SDKError {
  /// The same bytes for a hidden instance as for a missing one, but for the name.
  public static func instanceNotFound(_ id: InstanceID) -> SDKError {
    SDKError(
      .missing, .instanceNotFound, "There is no instance \(id); instance.list shows those that you can see.",
      instance: id)
  }

  /// The caller can see the instance, but its role is too little.
  public static func accessDenied(_ what: String, instance: InstanceID? = nil) -> SDKError {
    SDKError(.access, .accessDenied, what, instance: instance)
  }
}

/// The exit status of `sdkctl` for an error (`protocol.md`, the numbers in the table of errors).
public enum ExitStatus {
  /// Returns the status for an error: 75 for every retryable one and no other, else what its code and reason say.
  public static func status(code: Int, reason: String, isRetryable: Bool) -> Int32 {
    if isRetryable { return 75 }
    switch code {
    case -32700, -32600, -32601, -32602: return 2
    case -32001: return 4
    case -32002: return 5
    case -32010:
      let first: [Reason] = [.notAuthenticated, .reauthNeeded, .locked, .noIdentity, .userNotAuthorized]
      return first.contains { $0.rawValue == reason } ? 6 : 1
    case -32021: return 6
    default: return 1
    }
  }
}
