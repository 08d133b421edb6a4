import DelegateBridge
import SDKProtocol
import StateStore

/// The facts from outside that a step depends on. They are read when it begins.
struct StepContext: Sendable {
  /// The time.
  var now: Timestamp
  /// The seconds by which the vendor's clock is ahead.
  var vendorAhead = 0.0
  /// A random number from 0 to 1.
  var random = 0.5
  /// Whether a delegate of the service is attached.
  var hasDelegate = false
  /// The time at which the provider's breaker allows the next run; `nil` if it does not block.
  var nextProviderAttempt: Timestamp?

  /// The vendor's time, which decides when credentials expire.
  var vendorNow: Timestamp { now + vendorAhead }

  /// Converts a time of the vendor's clock to ours.
  func ours(_ time: Timestamp) -> Timestamp { time - vendorAhead }
}

/// The result of a change to an `InstanceCore`: what to commit, and what to begin once that is durable.
struct Step: Sendable {
  /// The treatment of a step whose change can't be stored.
  enum Failure: Sendable {
    /// The step is undone, and the caller gets the error.
    case undo
    /// The activities end with the error, and the identity stays. With `rests`, the machine is idle afterwards. With
    /// `locks`, the service is locked, because data that had to be wiped is still there.
    case end(Set<ActivityID>, of: String?, rests: Bool, locks: Bool, isKnownToVendor: Bool)
    /// The step takes effect in memory only: what it stores can be obtained again, or does no harm when it is missing.
    case keepInMemory
    /// As `keepInMemory`, but registrations and deliveries stay as they are on disk.
    case keepIdentityInMemory
  }

  /// The change to commit; `nil` for none.
  var change: InstanceChange?
  /// The reason why the change can't be written; `nil` as a rule.
  var error: SDKError?
  var failure = Failure.undo
  /// The activity whose outcome the step's caller waits for; `nil` if there is nothing to wait for.
  var awaited: ActivityID?
  /// The activities whose callers get the counts of a wipe in the change.
  var wiping: [ActivityID] = []
  /// The effects to begin, in this order.
  var effects: [(service: String?, effect: Effect)] = []
}

/// The end of a step, after its commit.
struct SettledStep: Sendable {
  /// The effects to begin, in this order.
  var effects: [(service: String?, effect: Effect)] = []
  /// Whether the step took effect.
  var isTaken = true
  /// The error that the step's caller must get.
  var error: SDKError?
}

/// An effect of a step outside of the state.
enum Effect: Sendable {
  /// The end of an activity, for its callers.
  case end(ActivityID, AuthenticationMachine.Outcome)
  /// The end of an activity whose place a newer one took.
  case supersede(ActivityID, SDKError)
  /// The end of the demand for the bridge's response.
  case endDemand
  /// A closed breaker, as no request was made for the next user yet.
  case resetBreaker
  /// An answer of the bridge that counts as failed.
  case rejectAnswer
  /// A line in the journal.
  case log(AuthenticationMachine.Notice, tokenId: TokenID?)
  /// A line in the journal for a delivery that is abandoned after a failure.
  case logAbandoned(Delivery, SDKError)
  /// A line in the journal for deliveries that newer ones have displaced.
  case logDropped([Delivery])
  /// A line in the journal for a connection that the vendor refused again, or that was lost.
  case logConnection(SDKError, isRefused: Bool)
  /// The end of a renewal, for observers.
  case renewalEnded(EndedRenewal)
  /// A reservation in the renewal schedule that is not needed any more.
  case release(RenewalPlace)

  /// Work at the vendor: shows the credential as a login.
  case signIn(CheckedCredential)
  /// Work at the vendor: ends the former user's session before a login.
  case endFormer(Credential?)
  /// Work at the vendor: ends the session.
  case endSession(Credential?)
  case createAnonymousUser
  /// Work at the vendor: renews the credential without the owner.
  case renewItself
  /// Work at the vendor: shows a renewed credential. `isProvided` is whether it was provided in advance.
  case verify(CheckedCredential, isProvided: Bool)
  /// Work at the vendor: checks a credential that an app reported.
  case probe(Credential)
  /// Work at the vendor: logs a late login out.
  case undo(SignedIn, isPresentUser: Bool)
  /// A request to the bridge for a credential.
  case ask(BridgeQuestion)
  /// A request to the owner to decide whether to continue after the failure.
  case confirm(BridgeQuestion, SDKError)
  /// An input that follows at once, as a step of its own.
  case follow(AuthenticationMachine.Input)
  /// The credential that was provided in advance, in place of a response of the bridge.
  case offer(CheckedCredential)

  /// A connection to open.
  case connect(number: UInt64)
  /// The open connection, which is not wanted any more.
  case closeConnection
  /// A connection on which the vendor accepted a user.
  case adopt(any RealtimeConnection, number: UInt64)
  /// The connection of a result that is not used.
  case abandon(any RealtimeConnection)

  /// A delivery to make.
  case deliver(Delivery)
  /// A delivery whose time is over.
  case abandonLate(Delivery)
}

extension Step {
  mutating func add(_ effect: Effect, on service: String?) { effects.append((service, effect)) }

  mutating func add(_ list: [Effect], on service: String?) { effects += list.map { (service, $0) } }
}
