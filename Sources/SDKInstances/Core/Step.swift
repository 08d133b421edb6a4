import DelegateBridge
import SDKProtocol
import StateStore

/// The external facts that a step depends on, such as the time. They are read when the step begins.
struct StepContext: Sendable {
  /// The time.
  var now: Timestamp
  /// The seconds by which the vendor's clock is ahead of the daemon's.
  var vendorAhead = 0.0
  /// A random number from 0 to 1.
  var random = 0.5
  /// Whether a delegate of the service is attached.
  var hasDelegate = false
  /// The time until which a lost delegate counts as attached; `nil` if one is attached, or if none is expected.
  var delegateGraceEnd: Timestamp?
  /// The time at which the provider's breaker allows the next run; `nil` if it does not block.
  var nextProviderAttempt: Timestamp?

  /// The vendor's time, which decides when credentials expire.
  var vendorNow: Timestamp { now + vendorAhead }

  /// Converts a time of the vendor's clock to the daemon's.
  func ours(_ time: Timestamp) -> Timestamp { time - vendorAhead }
}

/// The result of a change to an `InstanceCore`: what to commit, and what to begin once that is durable.
struct Step: Sendable {
  /// The handling of a step whose change can't be stored.
  enum Failure: Sendable {
    /// The step is not taken, and the caller gets the error.
    case refuse
    /// The activities end with the error, and the identity stays. With `rests`, the machine is idle afterwards. With
    /// `wipe`, the cause of a wipe, the service is locked, because the data that had to be wiped is still there. With
    /// `isKnownToVendor`, the error says that the vendor has ended the session.
    case end(Set<ActivityID>, of: String?, rests: Bool, wipe: LogoutCause? = nil, isKnownToVendor: Bool = false)
    /// The step takes effect in memory only. A restart loses it, unless a later step stores it.
    case keepInMemory
    /// As `keepInMemory`, for an identity that can be obtained again. Registrations and deliveries stay as they were.
    case keepIdentityInMemory
  }

  /// The change to commit; `nil` for none.
  var change: InstanceChange?
  /// The reason why the change can't be written; `nil` if it can.
  var error: SDKError?
  var failure = Failure.refuse
  /// A login's result; undone at the vendor if the step's change can't be stored.
  var login: SignedIn?
  /// The activity whose outcome the step's caller waits for; `nil` if there is nothing to wait for.
  var awaited: ActivityID?
  /// The activities whose callers get the counts of a wipe in the change.
  var wiping: [ActivityID] = []
  /// The effects to begin, in this order.
  var effects: [(service: String?, effect: Effect)] = []
}

/// The outcome of a step after its commit.
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
  /// Reports the outcome of an activity to its callers.
  case end(ActivityID, AuthenticationMachine.Outcome)
  /// Reports to the callers of an activity that a newer one took its place.
  case supersede(ActivityID, SDKError)
  /// Ends the demand for the bridge's response.
  case endDemand
  /// Closes the breaker, because no request was made for the next user yet.
  case resetBreaker
  /// Tells the bridge whether its last response could be used. One that could not counts as failed.
  case judgeAnswer(isUsable: Bool)
  /// Writes the notice to the journal.
  case log(AuthenticationMachine.Notice, tokenId: TokenID?)
  /// Writes to the journal that a delivery is abandoned after a failure.
  case logAbandoned(Delivery, SDKError)
  /// Writes to the journal that newer deliveries have displaced these.
  case logDropped([Delivery])
  /// Writes to the journal that the vendor refused a connection again, or that a connection was lost.
  case logConnection(SDKError, isRefused: Bool)
  /// Reports the end of a renewal to observers.
  case renewalEnded(EndedRenewal)
  /// Releases a reservation in the renewal schedule.
  case release(RenewalPlace)

  /// Work at the vendor: logs in with the credential.
  case signIn(CheckedCredential)
  /// Work at the vendor: ends the former user's session before a login.
  case endFormer(Credential?)
  /// Work at the vendor: ends the session, with this state of the kind.
  case endSession(Credential?, kindState: [String: Secret])
  case createAnonymousUser
  /// Work at the vendor: renews the credential without the owner.
  case renewItself
  /// Work at the vendor: shows a renewed credential. `isProvided` is whether it was provided in advance.
  case verify(CheckedCredential, isProvided: Bool)
  /// Work at the vendor: checks a credential that an app reported.
  case probe(Credential)
  /// Work at the vendor: undoes a result that is not used. `logsOut` is whether to log its user out.
  case undoAtVendor(SignedIn, logsOut: Bool)
  /// Requests a credential from the bridge.
  case ask(BridgeQuestion)
  /// Requests the owner's decision whether to continue after the failure.
  case confirm(BridgeQuestion, SDKError)
  /// Feeds an input back to the state machine at once, as a step of its own: the result of work that is not needed.
  case feedBack(AuthenticationMachine.Input)
  /// Uses the credential that was provided in advance, in place of a response of the bridge.
  case offer(CheckedCredential)

  /// Opens a connection.
  case connect(number: UInt64)
  /// Closes the open connection of the service.
  case closeConnection
  /// Keeps a connection on which the vendor accepted a user, and receives what the vendor sends on it.
  case listen(to: any RealtimeConnection, number: UInt64)
  /// Closes the connection of a result that is not used.
  case abandon(any RealtimeConnection)

  /// Forgets what the vendor's responses have said about its clock.
  case distrustClock
  /// Registers the user's devices at the vendor again.
  case restorePushes
  /// Makes a delivery.
  case deliver(Delivery)
  /// Abandons a delivery whose deadline has passed.
  case abandonLate(Delivery)
}

extension Step {
  /// Creates a step that only begins effects.
  init(_ effects: [Effect], on service: String?) { self.init(effects: effects.map { (service, $0) }) }

  mutating func add(_ effect: Effect, on service: String?) { effects.append((service, effect)) }

  mutating func add(_ list: [Effect], on service: String?) { effects += list.map { (service, $0) } }
}
