import Concurrency
import SDKProtocol
import StateStore
import Synchronization

/// The authentication state of one service of an instance, or of the whole instance for kinds without services.
///
/// It belongs to the actor `HostedInstance`, which alone reads and changes it.
final class Lane {
  /// The service; `nil` for the whole instance.
  let service: String?
  var machine: AuthenticationMachine
  /// The machine's epoch at the last commit that raised it.
  var storedEpoch: UInt64
  var identity: IdentityRecord
  /// The activity in progress; `nil` without one.
  var progress: Progress?
  var recovery = RecoveryHistory()
  /// The reservation of the next renewal ahead of time in the schedule of all renewals.
  var place: RenewalPlace?
  /// The time of the last `networkError` event of this outage; `nil` once the vendor has responded.
  var outageToldAt: Timestamp?
  /// Whether the vendor has responded to the credential since this process began.
  var isVerified = false
  /// The outcome of the probe in progress, which checks at the vendor that the credential is accepted.
  var verification: Promise<Void>?
  /// Whether a crash or an outage may have lost the response for which a single-use credential was spent.
  var isInterrupted: Bool
  /// The provided credential that is used once, instead of a request to the bridge.
  var supply: CheckedCredential?
  /// Whether no session has tried the present identity yet, so that its failure must still be announced.
  var isUntried = false
  /// The cancellation scope of the request to the bridge.
  var need = Need()
  /// The state of the realtime connection with the vendor.
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

  /// Cancels the request to the bridge, whose response is not needed any more.
  func endNeed() {
    need.end()
    need = Need()
  }

  /// Replaces the identity, and resets the activity and the renewal state. The epoch rises, so that results of work in
  /// progress are ignored.
  func reset(to record: IdentityRecord, policy: AuthenticationPolicy) {
    identity = record
    endNeed()
    progress = nil
    supply = nil
    isInterrupted = false
    recovery = RecoveryHistory()
    machine = AuthenticationMachine(phase: record.phase, standing: .none, epoch: machine.epoch + 1, policy: policy)
    storedEpoch = machine.epoch
  }

  /// Whether a login is under way whose caller may not be waiting for it.
  var isSigningInBehind: Bool {
    progress?.operation != nil && (machine.activity == .signingIn || machine.activity == .endingFormer)
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
}

/// The data and the outcome of an activity.
struct Progress: Sendable {
  let outcome = Promise<AuthenticationMachine.Outcome>()
  /// The counts of what the activity's commits wiped.
  let wiped = WipeCounts()
  /// The credential that is shown to the vendor.
  var offered: CheckedCredential?
  /// Whether `offered` was provided in advance, and not by the bridge.
  var offersSupply = false
  /// Whether a login is of the signed-in user; `nil` when no user is signed in.
  var sameUser: Bool?
  /// The operation id in the activity's events; `nil` without one.
  var operation: String?
  /// The operation ids of callers that began the same login while it was in progress.
  var joined: [String] = []
  /// The kind's state when work at the vendor began. Changes since then are kept when the result is adopted.
  var basis: [String: Secret]?
  /// Changes to the kind's state of the next user, which are applied with the login.
  var amendments: [@Sendable (inout [String: Secret]) -> Void] = []
  /// The kind's own events to emit with a logout.
  var events: [EventType] = []

  /// An activity that has ended successfully.
  static var done: Progress {
    let progress = Progress()
    progress.outcome.resolve(.success(.done))
    return progress
  }
}

/// The counts of what an activity wiped, for the caller's answer.
final class WipeCounts: Sendable {
  private let counts = Mutex<CommitResult.Wiped?>(nil)

  var value: CommitResult.Wiped? { counts.withLock { $0 } }

  func set(_ wiped: CommitResult.Wiped) { counts.withLock { $0 = wiped } }
}
