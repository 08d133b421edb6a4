import SDKProtocol

/// The state of one service of an instance, or of the whole instance for kinds without services.
struct ServiceState: Sendable {
  /// The service; `nil` for the whole instance.
  let service: String?
  var machine: AuthenticationMachine
  /// The epoch of `machine` that is stored already. The next change raises the epoch on disk by the difference.
  var storedEpoch: UInt64
  var identity: IdentityRecord
  /// The cause of the last wipe that could not be stored, and whether the vendor has ended the session; `nil` without
  /// one.
  var failedWipe: (cause: LogoutCause, isKnownToVendor: Bool)?
  /// The activity in progress; `nil` without one.
  @Rare var running: RunningActivity? = nil
  /// The history of renewals, by which they are spaced out.
  var recovery = RecoveryHistory()
  /// The reservation of the next renewal ahead of time in the schedule of all renewals.
  var reservation: RenewalPlace?
  /// The time of the last `networkError` event of this outage; `nil` once the vendor has responded.
  var outageToldAt: Timestamp?
  /// Whether the vendor has responded to a request with the credential since this process started.
  var isVerified = false
  /// Whether the vendor accepted the credential when it had expired by the daemon's clock, which must be wrong then.
  var trustsVendorClock = false
  /// Whether a crash or an outage may have lost the response for which a single-use credential was spent.
  var isInterrupted: Bool
  /// A credential of the owner that was provided in advance. It is used once, instead of a request to the bridge.
  @Rare var provided: CheckedCredential? = nil
  /// Whether no session has used the present identity yet. A failure of the first session is then announced.
  var isUntried = false
  /// The epoch of the last logout that the vendor accepted.
  var lastSignOut: UInt64 = 0
  /// The realtime connection with the vendor.
  var connection = ConnectionKeeping()

  init(service: String?, identity: IdentityRecord, epoch: UInt64, policy: AuthenticationPolicy, now: Timestamp) {
    self.service = service
    self.identity = identity
    storedEpoch = epoch
    isInterrupted = identity.isSpending == true
    recovery.since = now
    machine = AuthenticationMachine(
      phase: identity.phase, standing: identity.standing(at: now), epoch: epoch, policy: policy)
  }

  /// Returns the states of an SDK's services, or one for the whole instance if there are none.
  static func all(
    of traits: SDKTraits, epoch: UInt64, now: Timestamp, identity: (String?) -> IdentityRecord?
  ) -> [ServiceState] {
    let names: [String?] = traits.services.isEmpty ? [nil] : traits.services
    return names.map {
      ServiceState(
        service: $0, identity: identity($0) ?? .nobody(.noUser), epoch: epoch, policy: traits.policy, now: now)
    }
  }

  /// Whether a login is in progress that reports its result as an event, so that its caller may not wait for it.
  var isSigningInBehind: Bool { running?.operation != nil && isSigningIn }

  /// Whether a login is in progress.
  var isSigningIn: Bool { machine.activity == .signingIn || machine.activity == .endingFormer }

  /// Whether a login is in progress, or a credential of the owner is being shown to the vendor.
  var isOffering: Bool {
    if case .verifying = machine.activity { true } else { isSigningIn }
  }

  /// The user as apps see them: not signed in while in `reauthNeeded` or `locked`, and `.none` after a fallback.
  var visibleUser: User {
    if machine.phase == .anonymous, identity.degraded != nil { return .none }
    var user = identity.user
    if machine.phase == .reauthNeeded || machine.phase == .locked {
      user.authenticationType = .unauthenticated
      user.authenticated = false
      user.verified = false
    }
    return user
  }

  /// Whether a failure of the next renewal is the first one of this identity, and so is announced.
  var isBeforeFallback: Bool { identity.degraded == nil || isUntried }

  /// Whether a user was set whom the vendor has not been asked about.
  func isPrepared(_ capabilities: Capabilities) -> Bool {
    machine.state == .anonymous && isBeforeFallback && capabilities.guests?.isPrepared(identity) == true
  }

  /// Whether the vendor got or is getting a logout after a request of this epoch had begun.
  func hasSignedOut(since epoch: UInt64) -> Bool { epoch < lastSignOut || machine.isSigningOut }

  /// Whether the credential has expired by the vendor's clock.
  func hasExpired(_ context: StepContext) -> Bool { identity.credential?.hasExpired(at: context.vendorNow) == true }

  /// Whether the vendor must decide about the credential: it has expired by one of the two clocks only, and the vendor
  /// has not accepted it since.
  func isDisputed(_ context: StepContext) -> Bool {
    guard context.vendorAhead != 0, !trustsVendorClock, let credential = identity.credential else { return false }
    return credential.hasExpired(at: context.now) != credential.hasExpired(at: context.vendorNow)
  }

  /// Compares the two clocks with what the vendor has just decided about the credential.
  mutating func compareClocks(isAccepted: Bool, _ context: StepContext) -> [Effect] {
    trustsVendorClock = false
    guard isAccepted, let end = identity.credential?.expiresAt else { return [] }
    if end <= context.vendorNow, end > context.now { return [.distrustClock] }
    trustsVendorClock = end <= context.now
    return []
  }
}

/// The id of an activity, which is unique within its instance.
struct ActivityID: Sendable, Hashable {
  let number: UInt64
}

/// The data of an activity in progress, such as a login or a renewal.
struct RunningActivity: Sendable {
  let id: ActivityID
  /// The credential that is shown to the vendor.
  var offered: CheckedCredential?
  /// Whether `offered` was provided in advance, and not by the bridge.
  var offersProvided = false
  /// For a login, whether it is of the user who is already signed in; `nil` if no user is.
  var sameUser: Bool?
  /// The cause of a logout; `nil` for any other activity.
  var logout: LogoutCause?
  /// The operation id in the activity's events; `nil` without one.
  var operation: String?
  /// The operation ids of callers that began the same login while it was in progress.
  var joined: [String] = []
  /// The operation ids of all these callers.
  var operations: [String] { [operation].compactMap { $0 } + joined }
  /// The kind's state when work at the vendor began. When the result is adopted, later changes to the state are applied
  /// to it.
  var basis: [String: Secret]?
  /// Changes to the kind's state of the next user, which are applied with the login.
  var amendments: [@Sendable (inout [String: Secret]) -> Void] = []
  /// The kind's own events to emit with a logout.
  var events: [EventType] = []

  init(_ id: ActivityID) { self.id = id }

  /// Continues with the identity that is left after the end of the user for whom the activity began.
  mutating func beginAnew(from identity: IdentityRecord) {
    sameUser = nil
    basis = identity.kindState
  }
}
