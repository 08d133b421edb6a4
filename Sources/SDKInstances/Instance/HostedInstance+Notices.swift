import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore

extension AuthenticationMachine.Notice {
  /// The error that it tells of.
  var failure: SDKError? {
    switch self {
    case .authenticationFailed(let error), .refreshFailed(let error), .networkError(let error),
      .logoutFailed(let error):
      error
    case .loggedIn, .loggedOut, .tokenRefreshed: nil
    }
  }

  /// The event that it becomes.
  var type: EventType {
    switch self {
    case .loggedIn: .userLoggedIn
    case .loggedOut: .userLoggedOut
    case .authenticationFailed: .authenticationFailed
    case .tokenRefreshed: .tokenRefreshed
    case .refreshFailed: .refreshFailed
    case .networkError: .networkError
    case .logoutFailed: .logoutFailed
    }
  }

  /// What the journal says.
  var sentence: String {
    switch self {
    case .loggedIn: "The user is logged in."
    case .loggedOut(let cause): "The user is logged out (\(cause.rawValue))."
    case .authenticationFailed(let error): "Authentication failed: \(error.message)"
    case .tokenRefreshed: "The token was renewed."
    case .refreshFailed(let error): "The token was not renewed: \(error.message)"
    case .networkError(let error): "The vendor can't be reached: \(error.message)"
    case .logoutFailed(let error): "The logout failed: \(error.message)"
    }
  }
}

extension HostedInstance {
  /// Whether a notice becomes an event: an outage does at most once a minute while it lasts.
  func isNews(_ notice: AuthenticationMachine.Notice) -> Bool {
    guard case .networkError = notice else { return true }
    if let told = outageToldAt, now >= told, now - told < 60 { return false }
    outageToldAt = now
    return true
  }

  /// The event that a notice becomes, with the data of `protocol.md`.
  func event(_ notice: AuthenticationMachine.Notice, result: SignedIn?) -> InstanceChange.NewEvent {
    var data = JSONObject()
    switch notice {
    case .loggedIn: data["user"] = (result?.user).flatMap { try? JSONValueEncoder.encode($0) }
    case .loggedOut(let cause):
      data["user"] = try? JSONValueEncoder.encode(identity.user)
      data["cause"] = .string(cause.rawValue)
    case .tokenRefreshed:
      let fresh = progress?.offered?.credential
      data["tokenId"] = fresh.map { .string($0.tokenId.description) }
      data["expiresAt"] = fresh?.expiresAt.map { .string($0.description) }
    case .authenticationFailed(let error):
      let full = error.rpcError.data
      data["reason"] = .string(error.reason.rawValue)
      data["message"] = .string(error.message)
      for name in ["httpStatus", "vendorCode", "vendorDescription"] { data[name] = full[name] }
      data["hints"] = .array(error.hints.map(JSON.string))
    case .refreshFailed(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["nextAttemptAt"] = environment.bridge.status(of: bridgeKey).nextAttemptAt.map { .string($0.description) }
    case .networkError(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["httpStatus"] = error.httpStatus.map { JSON($0) }
    case .logoutFailed(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["retrying"] = false
    }
    return .init(notice.type, data: data)
  }
}
