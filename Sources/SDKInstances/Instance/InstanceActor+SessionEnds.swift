import Concurrency
import JSONRPC
import SDKProtocol

/// A request in progress that ends a user's session at the vendor.
struct SessionEnd: Sendable {
  let service: String?
  /// The text that identifies the user (`IdentityRecord.subject`).
  let subject: Secret
  /// Resolved when the request has ended.
  let promise = Promise<Void>()
}

/// The vendor never gets a logout of a user who is signed in or signing in (`rows.md`, R16).
///
/// A logout that the daemon sends by itself waits for a login of the same user in progress, and is dropped once that
/// login is accepted. A login waits for a logout of the same user whose request is in progress.
extension InstanceActor {
  /// Registers a request that ends the session of a user; logins of that user wait for it. The caller resolves the
  /// returned promise when the request has ended.
  func beginSessionEnd(of subject: Secret?, on service: String?) -> Promise<Void>? {
    sessionEnds.removeAll { $0.promise.result != nil }
    guard let subject else { return nil }
    let end = SessionEnd(service: service, subject: subject)
    sessionEnds.append(end)
    return end.promise
  }

  /// Registers the request that undoes a late login, after the login or logout of the same user in progress.
  ///
  /// - Returns: the promise to resolve when the request has ended; `nil` if the user is signed in by then, and must not
  ///   be logged out.
  func beginUndo(
    of late: IdentityRecord, from origin: SignedIn.Origin?, on service: String?
  ) async -> Promise<Void>? {
    while !core.isDeleted, let state = core[service], state.hasBackend(of: origin) {
      // A logout in progress may have reached the vendor before the late login.
      let isLeaving = state.machine.isSigningOut && state.hasUser(of: late)
      if state.hasUser(of: late), !isLeaving { return nil }
      guard isLeaving || core.isSigningIn(late, on: state), let activity = state.running else { break }
      _ = try? await outcome(of: activity.id).success(of: id)
    }
    return beginSessionEnd(of: late.subject, on: service) ?? Promise()
  }

  /// Waits for the requests in progress that end the session of the user of this credential.
  func awaitSessionEnds(of credential: CheckedCredential, on service: String?) async {
    guard let user = credential.externalId else { return }
    let ends = sessionEnds.filter { $0.service == service && $0.subject.reveal().hasSameBytes(as: user) }
    for end in ends { _ = try? await end.promise.valueIgnoringCancellation() }
  }
}

extension InstanceCore {
  /// Whether a login is in progress that may be of the user of a record. Only its end tells whose some credentials are.
  func isSigningIn(_ record: IdentityRecord, on state: ServiceState) -> Bool {
    guard state.isSigningIn, let offered = state.running?.offered else { return false }
    return adapter.isSameUser(offered, as: record) != false
  }
}
