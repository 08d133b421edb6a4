public import SDKProtocol

/// The states of an instance and what each input makes of them: pure, without clock and without I/O.
///
/// `apply` returns what is to be done, in order; whoever owns the machine does it and feeds the results back with the
/// epoch in which they were begun. A result of an older epoch changes nothing.
public struct AuthenticationMachine: Sendable, Hashable {
  /// Where the instance rests when nothing is in progress.
  public enum Phase: String, Sendable, Codable, CaseIterable {
    case noUser, anonymous, authenticated, reauthNeeded, locked, loggedOut
  }

  /// How good the credential is, as far as we know.
  public enum Standing: Sendable, Hashable {
    /// There is none.
    case none
    /// It lives and nobody refused it.
    case usable
    /// An app says that the vendor refused it; the daemon has not seen that.
    case reported
    /// Its end has passed.
    case expired
    /// The daemon saw the vendor refuse it.
    case refused
  }

  /// What is in progress; one thing at a time.
  public enum Activity: Sendable, Hashable {
    case idle
    /// The former user's session is being ended before a login.
    case endingFormer
    /// A login is at the vendor.
    case signingIn
    /// A fresh credential is asked for so that the vendor can be told of the logout.
    case askingForSignOut
    /// A logout is at the vendor.
    case signingOut
    /// An anonymous user is being made.
    case creatingAnonymous
    /// The SDK renews its credential without the owner.
    case renewing
    /// The owner is asked whether to go on after a failure, before the attempt-th credential.
    case confirming(attempt: Int)
    /// The bridge is asked for the attempt-th credential.
    case asking(attempt: Int)
    /// The attempt-th credential is being shown to the vendor.
    case verifying(attempt: Int)
    /// The vendor is asked whether it refuses the credential that an app reported.
    case probing
  }

  /// Where it rests.
  public internal(set) var phase: Phase
  /// How good the credential is.
  public internal(set) var standing: Standing {
    didSet { if standing == .none || standing == .usable { objection = nil } }
  }
  /// What the vendor, or an app, last said against the credential.
  var objection: SDKError?
  /// What is in progress.
  public internal(set) var activity: Activity = .idle
  /// Raised with every login, logout and wipe.
  public internal(set) var epoch: UInt64
  /// Whether subscribers have been told of the failure that the recovery in progress is about.
  var isFailureTold = false
  /// Whether the vendor has refused to renew the credential that it is asked about.
  var isRenewalRefused = false
  /// The vendor's last refusal of a credential that was supplied in the recovery in progress.
  var refusal: SDKError?
  /// What the kind wants.
  public internal(set) var policy: AuthenticationPolicy

  /// A machine at rest.
  public init(phase: Phase, standing: Standing, epoch: UInt64, policy: AuthenticationPolicy) {
    self.phase = phase
    self.standing = standing
    self.epoch = epoch
    self.policy = policy
  }

  /// The state that observers see.
  public var state: InstanceState {
    switch activity {
    case .endingFormer, .signingIn, .creatingAnonymous: return .authenticating
    case .renewing, .confirming, .asking, .verifying: return recoveryState
    default: return phase.state
    }
  }

  private var recoveryState: InstanceState {
    switch phase {
    case .authenticated: .refreshing
    case .noUser, .anonymous, .loggedOut: .authenticating
    case .reauthNeeded, .locked: phase.state
    }
  }

  /// Whether a renewal is in progress.
  var isRecovering: Bool {
    switch activity {
    case .renewing, .confirming, .asking, .verifying: true
    default: false
    }
  }

  /// Whether a credential may be handed out now.
  public var mayHandOut: Bool {
    standing == .usable && (phase == .authenticated || phase == .anonymous)
  }

  /// Why the credential at hand can't be used; `nil` while nothing speaks against it.
  var cause: SDKError? {
    switch standing {
    case .expired: Self.expiredError
    case .refused, .reported: objection ?? Self.refusedError
    case .none, .usable: nil
    }
  }

  /// Whether a logout is in progress: no later change of the identity supersedes it.
  var isSigningOut: Bool { activity == .signingOut || activity == .askingForSignOut }

  /// Whether only the end of its credential, by the clock, keeps the user from being signed in.
  var waitsForTheClock: Bool {
    activity == .idle
      && (standing == .expired && (hasIdentity || hasFallenBack) || standing == .usable && phase == .reauthNeeded)
  }

  /// Whether an anonymous visitor has taken the place of a user whose credential has ended by the clock.
  var hasFallenBack: Bool { phase == .anonymous && standing == .expired }

  /// Whether there is an identity that a new credential could renew.
  public var hasIdentity: Bool { phase == .authenticated || phase == .reauthNeeded }

  /// Whether the vendor locked the identity, which a new credential unlocks; not so after a wipe that failed.
  public var isLockedByVendor: Bool { phase == .locked && standing == .refused }
}

extension AuthenticationMachine.Phase {
  /// The phase as the contract names it.
  public var state: InstanceState {
    switch self {
    case .noUser: .noUser
    case .anonymous: .anonymous
    case .authenticated: .authenticated
    case .reauthNeeded: .reauthNeeded
    case .locked: .locked
    case .loggedOut: .loggedOut
    }
  }
}
