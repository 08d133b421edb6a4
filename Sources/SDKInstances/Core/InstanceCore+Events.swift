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
    case .loggedIn, .loggedOut, .anonymousUserCreated, .tokenRefreshed: nil
    }
  }

  /// The type of the event that the notice becomes.
  var type: EventType {
    switch self {
    case .loggedIn: .userLoggedIn
    case .loggedOut: .userLoggedOut
    case .anonymousUserCreated: .anonymousUserCreated
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
    case .anonymousUserCreated: "The vendor has an anonymous user for this instance."
    case .authenticationFailed(let error): "Authentication failed: \(error.message)"
    case .tokenRefreshed: "The token was renewed."
    case .refreshFailed(let error): "The token was not renewed: \(error.message)"
    case .networkError(let error): "The vendor can't be reached: \(error.message)"
    case .logoutFailed(let error): "The logout failed: \(error.message)"
    case .fellBackToAnonymous(let error): "The visitor goes on as an anonymous one: \(error.message)"
    }
  }
}

extension InstanceCore {
  /// Returns the event of a notice, with the data that sdkd-protocol(7) defines.
  func event(
    _ notice: AuthenticationMachine.Notice, of state: ServiceState, result: SignedIn?, _ context: StepContext
  ) -> InstanceChange.NewEvent {
    var data = JSONObject()
    switch notice {
    case .loggedIn:
      data["user"] = (result?.user).flatMap(eventUser)
      // The vendor has accepted the credential, but the lint may have findings.
      let hints = (state.running?.offered?.hints ?? []) + (result?.hints ?? [])
      if !hints.isEmpty { data["hints"] = .array(hints.map(JSON.string)) }
    case .loggedOut(let cause):
      data["user"] = eventUser(state.identity.user)
      data["cause"] = .string(cause.rawValue)
    case .anonymousUserCreated: data["user"] = (result?.user).flatMap(eventUser)
    case .tokenRefreshed:
      let fresh = result?.credential ?? state.running?.offered?.credential ?? state.identity.credential
      data["tokenId"] = fresh.map { .string($0.tokenId.description) }
      data["expiresAt"] = fresh?.expiresAt.map { .string($0.description) }
    case .authenticationFailed(let error): data = Self.failure(error)
    case .refreshFailed(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["nextAttemptAt"] = context.nextProviderAttempt.map { .string($0.description) }
    case .networkError(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["httpStatus"] = error.httpStatus.map { JSON($0) }
    case .logoutFailed(let error):
      data["reason"] = .string(error.reason.rawValue)
      data["retrying"] = .bool(adapter.capabilities.cleanup?.retry(ofLogoutOf: state.identity, now: context.now) != nil)
    case .fellBackToAnonymous(let error): data["reason"] = .string(error.reason.rawValue)
    }
    return .init(notice.type, service: state.service, operation: state.running?.operation, data: data)
  }

  /// Returns the events that end the operations of a superseded activity.
  ///
  /// - Parameter next: the activity that takes its place.
  func superseding(
    _ activity: RunningActivity, by next: RunningActivity?, of state: ServiceState
  ) -> [InstanceChange.NewEvent] {
    guard state.isSigningIn else {
      let data: JSONObject = ["reason": .string(superseded.reason.rawValue), "retrying": false]
      return activity.operations.map { .init(.logoutFailed, service: state.service, operation: $0, data: data) }
    }
    return activity.operations.map { loginSuperseded($0, by: next, endingOperation: $0, of: state) }
  }

  /// Returns the events that end the operations of a login which a changed definition has ended.
  func loginOutcomes(
    of state: ServiceState, failingWith error: SDKError, _ context: StepContext
  ) -> [InstanceChange.NewEvent] {
    (state.running?.operations ?? []).map { operation in
      var event = self.event(.authenticationFailed(error), of: state, result: nil, context)
      event.operation = operation
      return event
    }
  }

  /// Returns the event of a superseded login.
  ///
  /// - Parameter ending: the operation that ends with the event: the login's, or that of a logout for which there is
  ///   nothing else to do.
  func loginSuperseded(
    _ operation: String, by next: RunningActivity?, endingOperation ending: String?, of state: ServiceState
  ) -> InstanceChange.NewEvent {
    let call: SupersedingCall =
      switch next?.logout {
      case nil: .login
      case .deauthorized?: .deauthorize
      default: .logout
      }
    return .init(
      .loginSuperseded, service: state.service, operation: ending,
      data: ["operation": .string(operation), "by": .string(call.rawValue)])
  }

  private static func failure(_ error: SDKError) -> JSONObject {
    let full = error.rpcError.data
    var data: JSONObject = ["reason": .string(error.reason.rawValue), "message": .string(error.message)]
    for name in ["httpStatus", "vendorCode", "vendorDescription"] { data[name] = full[name] }
    data["hints"] = .array(error.hints.map(JSON.string))
    return data
  }

  private func eventUser(_ user: User) -> JSON? { try? JSONValueEncoder.encode(shown(user)) }

  /// Returns the user in the form for observers and events: if the external id is a secret, its digest replaces it.
  func shown(_ user: User) -> User { adapter.traits.concealment?.user(user) ?? user }
}

extension AuthenticationMachine.Notice {
  /// Whether the notice becomes an event. During an outage, `networkError` does at most once a minute; other notices
  /// always do.
  ///
  /// - Parameter toldAt: the time of the last `networkError` event of this outage, which is set if this one is next.
  func isNews(_ toldAt: inout Timestamp?, _ now: Timestamp) -> Bool {
    guard case .networkError = self else { return true }
    if let told = toldAt, now >= told, now - told < 60 { return false }
    toldAt = now
    return true
  }
}

extension Instance.LastError {
  init(_ error: SDKError, at now: Timestamp) { self.init(reason: error.reason, message: error.message, at: now) }
}
