public import JSONRPC

/// An error of the daemon (sdkd-protocol(7)).
public struct SDKError: Error, Sendable, Hashable {
  /// The origin, which determines the error's code.
  public var origin: Origin
  /// The stable name of the cause.
  public var reason: Reason
  /// A sentence that says what happened and what to do next. It never holds a secret.
  public var message: String
  /// The instance that the error is about.
  public var instance: InstanceID?
  /// The path of the member that the error is about, such as `settings.proxy`; `nil` for none.
  public var member: String?
  /// The seconds to wait before another attempt.
  public var retryAfter: Double?
  /// The vendor's HTTP status.
  public var httpStatus: Int?
  /// The vendor's error code.
  public var vendorCode: VendorText?
  /// The vendor's error description.
  public var vendorDescription: VendorText?
  /// The possible causes, such as what local checks found in a JWT.
  public var hints: [String]
  /// Whether the same call will fail until an operator acts, even if `reason` is retryable.
  public var isPermanent = false

  /// Creates an error. Texts that are too long are clipped, and at most 16 hints are kept.
  public init(
    _ origin: Origin, _ reason: Reason, _ message: String, instance: InstanceID? = nil, member: String? = nil,
    retryAfter: Double? = nil, httpStatus: Int? = nil, vendorCode: VendorText? = nil,
    vendorDescription: VendorText? = nil, hints: [String] = []
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

  /// The same error with `isPermanent` set.
  public var permanent: SDKError {
    var copy = self
    copy.isPermanent = true
    return copy
  }

  /// Returns the same error without these secrets in the vendor's texts.
  public func without(_ secrets: SentSecrets) -> SDKError {
    var copy = self
    copy.vendorCode = secrets.text(vendorCode?.text)
    copy.vendorDescription = secrets.text(vendorDescription?.text)
    return copy
  }

  /// The maximum UTF-8 bytes of a message. It is bounded because it may quote a peer or a vendor.
  private static let maximumMessageBytes = 2048
  /// The maximum UTF-8 bytes of a member's path and of a hint.
  private static let maximumHintBytes = 512

  /// Returns the same error with `instance` set.
  public func about(_ instance: InstanceID) -> SDKError {
    var copy = self
    copy.instance = instance
    return copy
  }
}

extension SDKError: RPCErrorConvertible {
  /// The error as a JSON-RPC error.
  public var rpcError: RPCError {
    var data = JSONObject()
    if let instance { data["instance"] = .string(instance.name) }
    if let member { data["member"] = .string(member) }
    if let retryAfter { data["retryAfter"] = JSON(max(0, (retryAfter * 1000).rounded(.up) / 1000)) }
    if let httpStatus { data["httpStatus"] = JSON(httpStatus) }
    if let vendorCode { data["vendorCode"] = .string(vendorCode.text) }
    if let vendorDescription { data["vendorDescription"] = .string(vendorDescription.text) }
    if !hints.isEmpty { data["hints"] = .array(hints.map(JSON.string)) }
    return RPCError(
      code: origin.rawValue, reason: reason.rawValue, retryable: reason.isRetryable && !isPermanent, message: message,
      data: data)
  }
}

extension SDKError {
  /// Returns the error for a missing or a hidden instance. It differs only in the name, so that callers can't tell the
  /// two cases apart.
  public static func instanceNotFound(_ id: InstanceID) -> SDKError {
    SDKError(
      .missing, .instanceNotFound, "There is no instance \(id); instance.list shows those that you can see.",
      instance: id)
  }

  /// Returns the error for a caller that may see the instance, if any, but lacks the required role.
  public static func accessDenied(_ what: String, instance: InstanceID? = nil) -> SDKError {
    SDKError(.access, .accessDenied, what, instance: instance)
  }
}

/// The exit status of `sdkctl` for an error (sdkd-protocol(7)).
public enum ExitStatus {
  /// Returns the exit status for an error: 75 if and only if it is retryable, otherwise a status by code and reason.
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
