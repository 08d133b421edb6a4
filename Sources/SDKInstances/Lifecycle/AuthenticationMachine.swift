public import SDKProtocol

/// The state machine of an instance's authentication: pure, without clock and without I/O.
///
/// `apply` writes into a `StepWriter` what follows from an input, in order. The owner of the machine then begins the
/// work in it, and feeds back the results with the epoch in which they were begun. A result of an older epoch does not
/// change the state.
public struct AuthenticationMachine: Sendable, Hashable {
  /// The phase of an instance: its state apart from any activity in progress.
  public enum Phase: String, Sendable, Codable, CaseIterable {
    case noUser, anonymous, authenticated, reauthNeeded, locked, loggedOut
  }

  /// The status of the credential, as far as the daemon knows.
  public enum Standing: Sendable, Hashable {
    /// There is no credential.
    case none
    /// The credential has not expired, and no refusal of it is known.
    case usable
    /// An app reported that the vendor refused the credential. The daemon itself has seen no refusal.
    case reported
    /// The credential has expired.
    case expired
    /// The vendor refused the credential in a request of the daemon.
    case refused
  }

  /// The activity in progress; at most one at a time.
  public enum Activity: Sendable, Hashable {
    case idle
    /// The former user's session is being ended before a login.
    case endingFormer
    /// A login is in progress at the vendor.
    case signingIn
    /// A fresh credential is requested, so that the vendor can be informed of the logout.
    case askingForSignOut
    /// A logout is in progress at the vendor.
    case signingOut
    /// An anonymous user is being created.
    case creatingAnonymous
    /// The SDK renews its credential without the owner.
    case renewing
    /// The owner is being asked whether to continue after a failure, before the attempt-th credential is requested.
    case confirming(attempt: Int)
    /// The attempt-th credential is requested from the bridge.
    case asking(attempt: Int)
    /// The attempt-th credential is being shown to the vendor.
    case verifying(attempt: Int)
    /// The credential that an app reported is being checked with the vendor.
    case probing
  }

  /// The current phase.
  public internal(set) var phase: Phase
  /// The status of the credential.
  public internal(set) var standing: Standing {
    didSet { if standing == .none || standing == .usable { objection = nil } }
  }
  /// The last refusal of the credential, by the vendor or as an app reported it.
  @Rare var objection: SDKError? = nil
  /// The activity in progress.
  public internal(set) var activity: Activity = .idle
  /// A number that is raised with every login, logout and wipe.
  public internal(set) var epoch: UInt64
  /// Whether the event of the failure that the renewal in progress is meant to repair has been emitted.
  var isFailureTold = false
  /// Whether the vendor has refused to renew the credential that is being probed.
  var isRenewalRefused = false
  /// Whether the vendor has refused the anonymous user's credential once. A second refusal, in a later probe, is
  /// believed.
  var isDoubted = false
  /// The vendor's last refusal of a credential that the owner supplied for the renewal in progress.
  @Rare var refusal: SDKError? = nil
  /// The number of credentials of the owner that the vendor has refused since it accepted one.
  var refusedAnswers = 0
  /// The policy of the kind.
  public internal(set) var policy: AuthenticationPolicy

  /// Creates a state machine without an activity in progress.
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
    case .anonymous where isAnonymousUser: .refreshing
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

  /// Whether a login or logout is in progress, which decides on the identity.
  var isChangingUser: Bool {
    switch activity {
    case .endingFormer, .signingIn, .creatingAnonymous, .askingForSignOut, .signingOut: true
    case .idle, .renewing, .confirming, .asking, .verifying, .probing: false
    }
  }

  /// Whether a credential may be issued now.
  public var mayHandOut: Bool {
    standing == .usable && (phase == .authenticated || phase == .anonymous)
  }

  /// The reason why the present credential can't be used; `nil` if there is no credential or none is known.
  var cause: SDKError? {
    switch standing {
    case .expired: Self.expiredError
    case .refused, .reported: objection ?? Self.refusedError
    case .none, .usable: nil
    }
  }

  /// Whether a logout is in progress, which no later change of the identity supersedes.
  var isSigningOut: Bool { activity == .signingOut || activity == .askingForSignOut }

  /// Whether the user is not signed in only because the credential has expired by the clock. Setting the clock back can
  /// then sign the user in again.
  var waitsForTheClock: Bool {
    activity == .idle
      && (standing == .expired && (hasIdentity || hasFallenBack) || standing == .usable && phase == .reauthNeeded)
  }

  /// Whether an anonymous visitor replaces a user whose credential has expired by the clock.
  var hasFallenBack: Bool { phase == .anonymous && standing == .expired }

  /// Whether there is an anonymous user with a credential that may still be valid. A visitor who replaces a user, and a
  /// guest without a credential, are none.
  var isAnonymousUser: Bool { phase == .anonymous && (standing == .usable || standing == .reported) }

  /// Whether there is an identity that a new credential could renew.
  public var hasIdentity: Bool { phase == .authenticated || phase == .reauthNeeded }

  /// Whether the vendor locked the identity, so that a new credential unlocks it. `false` after a failed wipe.
  public var isLockedByVendor: Bool { phase == .locked && standing == .refused }

  /// Whether a wipe could not be stored, so that data of a former user is still there.
  var hasFailedWipe: Bool { phase == .locked && !isLockedByVendor }
}

extension AuthenticationMachine.Phase {
  /// The phase as a state of the protocol.
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

/// An optional value that is rarely there, stored outside of the type that has it.
///
/// A daemon has thousands of instances with nothing in progress and no failure to remember. An optional of 100 bytes
/// would take these in each of them.
@propertyWrapper
enum Rare<Value> {
  case absent
  indirect case present(Value)

  init(wrappedValue: Value?) {
    self = wrappedValue.map { .present($0) } ?? .absent
  }

  var wrappedValue: Value? {
    get { if case .present(let value) = self { value } else { nil } }
    set { self = Rare(wrappedValue: newValue) }
  }
}

extension Rare: Sendable where Value: Sendable {}
extension Rare: Equatable where Value: Equatable {}
extension Rare: Hashable where Value: Hashable {}
