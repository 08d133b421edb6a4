import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore

extension AuthenticationMachine.Notice {
  /// The error that the notice reports; `nil` if it reports none.
  var failure: SDKError? {
    switch self {
    case .authenticationFailed(let error), .refreshFailed(let error), .networkError(let error),
      .logoutFailed(let error), .fellBackToAnonymous(let error):
      error
    case .loggedIn, .loggedOut, .tokenRefreshed: nil
    }
  }

  /// The type of the event that the notice becomes.
  var type: EventType {
    switch self {
    case .loggedIn: .userLoggedIn
    case .loggedOut: .userLoggedOut
    case .authenticationFailed: .authenticationFailed
    case .tokenRefreshed: .tokenRefreshed
    case .refreshFailed: .refreshFailed
    case .networkError: .networkError
    case .logoutFailed: .logoutFailed
    case .fellBackToAnonymous: .fellBackToAnonymous
    }
  }

  /// The message for the journal.
  var sentence: String {
    switch self {
    case .loggedIn: "The user is logged in."
    case .loggedOut(let cause): "The user is logged out (\(cause.rawValue))."
    case .authenticationFailed(let error): "Authentication failed: \(error.message)"
    case .tokenRefreshed: "The token was renewed."
    case .refreshFailed(let error): "The token was not renewed: \(error.message)"
    case .networkError(let error): "The vendor can't be reached: \(error.message)"
    case .logoutFailed(let error): "The logout failed: \(error.message)"
    case .fellBackToAnonymous(let error): "The visitor goes on as an anonymous one: \(error.message)"
    }
  }
}

extension HostedInstance {
  /// Whether a notice becomes an event. During an outage, `networkError` does at most once a minute; other notices
  /// always do.
  func isNews(_ notice: AuthenticationMachine.Notice, on lane: Lane) -> Bool {
    guard case .networkError = notice else { return true }
    if let told = lane.outageToldAt, now >= told, now - told < 60 { return false }
    lane.outageToldAt = now
    return true
  }

  /// Returns the event of a notice, with the data that `protocol.md` defines.
  func event(
    _ notice: AuthenticationMachine.Notice, on lane: Lane, result: SignedIn?
  ) -> InstanceChange.NewEvent {
    var data = JSONObject()
    switch notice {
    case .loggedIn:
      data["user"] = (result?.user).flatMap(eventUser)
      // The vendor has accepted the credential, but the lint may have findings.
      if let hints = lane.progress?.offered?.hints, !hints.isEmpty { data["hints"] = .array(hints.map(JSON.string)) }
    case .loggedOut(let cause):
      data["user"] = eventUser(lane.identity.user)
      data["cause"] = .string(cause.rawValue)
    case .tokenRefreshed:
      let fresh = result?.credential ?? lane.progress?.offered?.credential ?? lane.identity.credential
      data["tokenId"] = fresh.map { .string($0.tokenId.description) }
      data["expiresAt"] = fresh?.expiresAt.map { .string($0.description) }
    case .authenticationFailed(let error): data = Self.failure(error)
    case .refreshFailed(let error):
      let bridge = environment.bridge.status(of: bridgeKey(lane.service))
      data["reason"] = .string(error.reason.rawValue)
      data["nextAttemptAt"] = bridge.nextAttemptAt.map { .string($0.description) }
    case .networkError(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["httpStatus"] = error.httpStatus.map { JSON($0) }
    case .logoutFailed(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["retrying"] = .bool(adapter.capabilities.cleanup?.retry(ofLogoutOf: lane.identity, now: now) != nil)
    case .fellBackToAnonymous(let error): data["reason"] = .string(error.reason.rawValue)
    }
    return .init(notice.type, service: lane.service, operation: lane.progress?.operation, data: data)
  }

  /// Returns the failure events that end the operations of a superseded activity.
  func superseding(_ progress: Progress, on lane: Lane) -> [InstanceChange.NewEvent] {
    let error = superseded
    let isLogout = lane.machine.activity == .signingOut || lane.machine.activity == .askingForSignOut
    let data: JSONObject =
      isLogout ? ["reason": .string(error.reason.rawValue), "retrying": false] : Self.failure(error)
    return ([progress.operation].compactMap { $0 } + progress.joined).map {
      .init(isLogout ? .logoutFailed : .authenticationFailed, service: lane.service, operation: $0, data: data)
    }
  }

  private static func failure(_ error: SDKError) -> JSONObject {
    let full = error.rpcError.data
    var data: JSONObject = ["reason": .string(error.reason.rawValue), "message": .string(error.message)]
    for name in ["httpStatus", "vendorCode", "vendorDescription"] { data[name] = full[name] }
    data["hints"] = .array(error.hints.map(JSON.string))
    return data
  }

  private func eventUser(_ user: User) -> JSON? { try? JSONValueEncoder.encode(shown(user)) }

  /// Returns the user as observers and events get it: the external id, which is a secret, is replaced by its digest.
  nonisolated func concealed(_ user: User) -> User {
    var user = user
    user.externalId = user.externalId.map { TokenID(Secret($0)).description }
    return user
  }

  func shown(_ user: User) -> User { adapter.traits.concealsExternalId ? concealed(user) : user }
}
