import SDKProtocol

@testable import SDKInstances

/// The authentication machine as it was when it returned actions.
struct FormerMachine: Sendable, Hashable {
  typealias Phase = AuthenticationMachine.Phase
  typealias Standing = AuthenticationMachine.Standing
  typealias Activity = AuthenticationMachine.Activity
  typealias Input = AuthenticationMachine.Input
  typealias Confirmation = AuthenticationMachine.Confirmation
  typealias Answer = AuthenticationMachine.Answer
  typealias Probe = AuthenticationMachine.Probe
  typealias Outcome = AuthenticationMachine.Outcome
  typealias Notice = AuthenticationMachine.Notice

  /// The effect of an accepted login.
  enum Acceptance: Sendable, Hashable {
    /// The user is signed in.
    case login
    /// The vendor was not contacted yet. The instance enters this phase.
    case prepared(Phase)
  }

  /// An action to execute, in the order returned. Adjacent durable actions are one commit.
  enum Action: Sendable, Hashable {
    /// Durable: adopts the identity that the vendor accepted. With `wipe`, the former identity is wiped first.
    case adopt(wipe: Bool)
    /// Durable: replaces the credential by the new one.
    case adoptCredential(verified: Bool)
    /// Durable: records that a single-use credential is about to be used up, so that a crash during its use is
    /// detected.
    case noteSpending
    /// Durable: continues as an anonymous visitor instead of the user. The identity is kept. The credential is kept
    /// only if it has expired by the clock.
    case fallBack
    /// Durable: destroys identity, storage and keys.
    case wipe
    /// Durable: stores the changed phase of the instance.
    case record
    /// Durable: emits an event.
    case announce(Notice)

    /// Fails the callers that wait for the former activity with `superseded`.
    case supersede
    /// Undoes at the vendor a login, or the creation of an anonymous user, that succeeded too late to be used.
    case undo
    case endFormer
    case exchange
    case endSession
    case createAnonymous
    case ask(attempt: Int, isRefusal: Bool, SDKError?)
    /// Renews the credential by the SDK itself, without the owner.
    case renewItself
    /// Notifies the owner of the failure and requests a decision whether to continue.
    case confirm(SDKError)
    case verify
    case probe
    /// Ends the activity and notifies the callers that wait for it.
    case finish(Outcome)
  }

  /// The current phase.
  var phase: Phase
  /// The status of the credential.
  var standing: Standing {
    didSet { if standing == .none || standing == .usable { objection = nil } }
  }
  /// The last refusal of the credential, by the vendor or as an app reported it.
  var objection: SDKError?
  /// The activity in progress.
  var activity: Activity = .idle
  /// A number that is raised with every login, logout and wipe.
  var epoch: UInt64
  /// Whether the event of the failure that the renewal in progress is meant to repair has been emitted.
  var isFailureTold = false
  /// Whether the vendor has refused to renew the credential that is being probed.
  var isRenewalRefused = false
  /// Whether the vendor has refused the anonymous user's credential once. A second refusal, in a later probe, is
  /// believed.
  var isDoubted = false
  /// The vendor's last refusal of a credential that the owner supplied for the renewal in progress.
  var refusal: SDKError?
  /// The number of credentials of the owner that the vendor has refused since it accepted one.
  var refusedAnswers = 0
  /// The policy of the kind.
  var policy: AuthenticationPolicy

  /// Creates a state machine without an activity in progress.
  init(phase: Phase, standing: Standing, epoch: UInt64, policy: AuthenticationPolicy) {
    self.phase = phase
    self.standing = standing
    self.epoch = epoch
    self.policy = policy
  }

  /// The state that observers see.
  var state: InstanceState {
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

  /// Whether a credential may be issued now.
  var mayHandOut: Bool {
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
  var hasIdentity: Bool { phase == .authenticated || phase == .reauthNeeded }

  /// Whether the vendor locked the identity, so that a new credential unlocks it. `false` after a failed wipe.
  var isLockedByVendor: Bool { phase == .locked && standing == .refused }

  /// Whether a wipe could not be stored, so that data of a former user is still there.
  var hasFailedWipe: Bool { phase == .locked && !isLockedByVendor }

  // MARK: The present machine

  /// Creates the former machine in the state of a present one.
  init(_ machine: AuthenticationMachine) {
    self.init(phase: machine.phase, standing: machine.standing, epoch: machine.epoch, policy: machine.policy)
    objection = machine.objection
    activity = machine.activity
    isFailureTold = machine.isFailureTold
    isRenewalRefused = machine.isRenewalRefused
    isDoubted = machine.isDoubted
    refusal = machine.refusal
    refusedAnswers = machine.refusedAnswers
  }

  /// The present machine in the state of this one.
  var present: AuthenticationMachine {
    var machine = AuthenticationMachine(phase: phase, standing: standing, epoch: epoch, policy: policy)
    machine.objection = objection
    machine.activity = activity
    machine.isFailureTold = isFailureTold
    machine.isRenewalRefused = isRenewalRefused
    machine.isDoubted = isDoubted
    machine.refusal = refusal
    machine.refusedAnswers = refusedAnswers
    return machine
  }
}
