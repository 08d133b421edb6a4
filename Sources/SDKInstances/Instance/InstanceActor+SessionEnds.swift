import Concurrency
import JSONRPC
import SDKProtocol

/// A request in progress that ends a session at the vendor.
struct SessionEnd: Sendable {
  /// The keys of the session (`KindRules.sessionKeys`).
  let keys: Set<Secret>
  /// Resolved when the request has ended.
  let promise = Promise<Void>()
}

/// The vendor never gets a logout of a session that is in use or being set up (`rows.md`, R16), on any service.
///
/// A logout that the daemon sends by itself waits for a login that may be of the same session, and is dropped once that
/// login is accepted. A login waits for a logout of the same session whose request is in progress.
extension InstanceActor {
  /// Registers a request that ends sessions; logins with these sessions wait for it. The caller resolves the returned
  /// promise when the request has ended.
  func beginSessionEnd(of keys: Set<Secret>) -> Promise<Void>? {
    sessionEnds.removeAll { $0.promise.result != nil }
    guard !keys.isEmpty else { return nil }
    let end = SessionEnd(keys: keys)
    sessionEnds.append(end)
    return end.promise
  }

  /// Registers the request that undoes a login which is not used, after the logins and the logout of the same session
  /// in progress.
  ///
  /// - Returns: the promise to resolve when the request has ended; `nil` if the session is in use by then, and must not
  ///   be ended.
  func beginUndo(of unused: IdentityRecord, from origin: SignedIn.Origin?) async -> Promise<Void>? {
    let keys = core.adapter.sessionKeys(of: unused)
    while !core.isDeleted, core.hasBackend(of: origin) {
      // A logout in progress may have reached the vendor before this login.
      let leaving = core.services.first { $0.machine.isSigningOut && core.isInUse(keys, on: $0) }
      if core.services.contains(where: { core.isInUse(keys, on: $0) && !$0.machine.isSigningOut }) { return nil }
      let activity = leaving?.running ?? core.services.first { core.isOffered(keys, on: $0) }?.running
      guard let activity, !Task.isCancelled else { break }
      // In rounds, because a renewal may wait for a person, and the session may be free before that ends. Without an end,
      // because a logout would end the session that the activity sets up.
      if await isAbandoned(activity.id, within: core.adapter.traits.common.timeout) {
        // The activity was abandoned before its request was sent. If it was a logout, the user stays signed in.
        if leaving != nil { return nil }
        break
      }
    }
    return beginSessionEnd(of: keys) ?? Promise()
  }

  /// Waits for the end of an activity, and returns whether it was abandoned because the daemon stops.
  private func isAbandoned(_ activity: ActivityID, within seconds: Double) async -> Bool {
    do {
      let end = try await outcome(of: activity).value(within: seconds, of: id)
      return if case .failed(let error) = end { error.reason == .shuttingDown } else { false }
    } catch { return (error as? SDKError)?.reason == .shuttingDown }
  }

  /// Waits for the requests in progress that may end the session of a credential, at most the instance's `timeout`.
  ///
  /// - Returns: whether there was one, so that the vendor must be asked whether it still accepts the credential.
  func awaitSessionEnds(of credential: CheckedCredential) async -> Bool {
    let ends = sessionEnds(of: core.adapter.sessionKeys(of: credential))
    await wait(for: ends)
    return !ends.isEmpty
  }

  /// Returns the requests in progress that may end one of these sessions; all of them for `nil`.
  private func sessionEnds(of keys: Set<Secret>?) -> [SessionEnd] {
    sessionEnds.filter { end in end.promise.result == nil && keys.map { !$0.isDisjoint(with: end.keys) } ?? true }
  }

  /// Returns the requests in progress that end the session of a service's user.
  func sessionEnds(of service: String?) -> [SessionEnd] { sessionEnds(of: core.sessionKeys(of: service)) }

  /// Waits for requests that end sessions, at most the instance's `timeout`.
  func wait(for ends: [SessionEnd]) async {
    let limit = WaitLimit(core.adapter.traits.common.timeout)
    for end in ends {
      try? await end.promise.value(within: limit.left, of: id, lacking: "A logout in progress has not ended")
    }
  }
}
