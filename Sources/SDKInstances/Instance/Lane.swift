import Concurrency
import SDKProtocol
import StateStore
import Synchronization

/// Who is signed in on one service of an instance, or on the whole of it for kinds without services.
///
/// It belongs to the actor `HostedInstance`, which alone reads and changes it.
final class Lane {
  /// The service; `nil` for the whole instance.
  let service: String?
  var machine: AuthenticationMachine
  /// The machine's epoch when something was stored last.
  var storedEpoch: UInt64
  var identity: IdentityRecord
  /// What is in progress and who waits for it.
  var progress: Progress?
  var recovery = RecoveryHistory()
  /// When the next renewal ahead of time begins, among all others.
  var place: RenewalPlace?
  /// When subscribers were last told that the vendor can't be reached; `nil` once it has answered.
  var outageToldAt: Timestamp?
  /// Whether the vendor has accepted the credential since this process began.
  var isVerified = false
  /// The question to the vendor whether it accepts the credential, while nobody knows the answer.
  var verification: Promise<Void>?
  /// Whether a spent credential's answer may have been lost: by a crash or an outage.
  var isInterrupted: Bool
  /// A credential that is used once instead of asking the bridge.
  var supply: CheckedCredential?
  /// Whether an identity was set that no session has tried yet, so that its failure is still to be announced.
  var isUntried = false
  /// Whether the question that is being asked is still of use.
  var need = Need()
  /// The connection with the vendor.
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

  /// What is being asked is of no use any more.
  func endNeed() {
    need.end()
    need = Need()
  }

  /// Forgets everything but the fence: what is under way belongs to an identity that is gone.
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

  /// In `reauthNeeded` the user is known but not signed in; in the fallback it is a visitor.
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

/// An activity: what it carries and its outcome.
struct Progress: Sendable {
  let outcome = Promise<AuthenticationMachine.Outcome>()
  /// What its commits wiped.
  let wiped = WipeCounts()
  /// The credential that is on its way to the vendor.
  var offered: CheckedCredential?
  /// Whether it was supplied for this occasion, and not by the bridge.
  var offersSupply = false
  /// Whether it is the user who is signed in; `nil` when nobody is.
  var sameUser: Bool?
  /// The operation that its events name.
  var operation: String?
  /// Operations of callers who asked for the same while it was under way.
  var joined: [String] = []
  /// What the kind kept when work at the vendor began: what has changed since is not lost by its result.
  var basis: [String: Secret]?
  /// What the next user is given with the login.
  var amendments: [@Sendable (inout [String: Secret]) -> Void] = []
  /// Events of the kind's own that go with a logout.
  var events: [EventType] = []

  /// One that has ended well.
  static var done: Progress {
    let progress = Progress()
    progress.outcome.resolve(.success(.done))
    return progress
  }
}

/// What was wiped on the way, for the caller's answer.
final class WipeCounts: Sendable {
  private let counts = Mutex<CommitResult.Wiped?>(nil)

  var value: CommitResult.Wiped? { counts.withLock { $0 } }

  func set(_ wiped: CommitResult.Wiped) { counts.withLock { $0 = wiped } }
}
