import SDKProtocol
import Testing

@testable import SDKInstances

/// The rules for every step of the machine, in any state and for any input (`architecture.md`, "The instance";
/// `rows.md`, R1 to R13).
struct MachineRules {
  typealias Machine = AuthenticationMachine

  var before: Machine
  var input: Machine.Input
  var after: Machine
  var actions: [Machine.Action]

  init(_ before: Machine, _ input: Machine.Input) {
    self.before = before
    self.input = input
    var machine = before
    actions = machine.apply(input)
    after = machine
  }

  /// Returns the names of the rules that this step breaks.
  func broken() -> [String] {
    var broken: [String] = []
    func rule(_ name: String, _ holds: Bool) { if !holds { broken.append(name) } }
    let wipes = actions.contains(.wipe)
    let asks = actions.compactMap { if case .ask(let attempt, _, _) = $0 { attempt } else { nil } }

    rule("the epoch never falls", after.epoch >= before.epoch)
    rule("one terminal outcome", openWaiters(after) == openWaiters(before) + begun - ended || input == .wipeFailed)
    rule("a wipe leaves no credential", !wipes || after.standing == .none && !after.hasIdentity)
    rule("a wipe is fenced by an epoch", !wipes || after.epoch > before.epoch || before.activity != .idle)
    rule(
      "a token is handed out when there is a user",
      !after.mayHandOut || [.authenticated, .anonymous].contains(after.phase))
    rule(
      "a vendor is told of the end of a session that there is",
      !hasAny(.endFormer, .endSession) || before.hasIdentity)
    rule("a probe needs a user", !hasAny(.probe) || [.authenticated, .anonymous].contains(after.phase))
    rule("the bridge is asked at rest or for an identity that there is", asks.isEmpty || mayAsk)
    rule("no more attempts than the budget", asks.allSatisfy { $0 <= before.policy.maxAttempts })
    rule("failure is told once", failures <= 1)
    rule("who is gone is told with the wipe", (logouts == 1) == wipes)
    rule("logging in is told with the adoption", !actions.contains(.announce(.loggedIn)) || adopts)
    rule(
      "only an acceptance signs in, or a clock that was set back",
      after.phase != .authenticated || before.phase == .authenticated || adopts || input == .revived)
    rule(
      "an anonymous user who is renewed stays one",
      before.activity != .renewing || !before.isAnonymousUser || after.phase != .authenticated)
    rule("nothing rests on a dead credential", !isAtRest(after) || ![.expired, .refused].contains(after.standing))
    if isLateEnd, before.hasIdentity {
      let isLeft = after.phase == .loggedOut && wipes
      rule("a user whose session has ended is not signed in", isLeft || after.isSigningOut && after.standing == .none)
    } else if let epoch = input.epoch, epoch != before.epoch {
      rule("a stale result changes nothing", after == before)
      rule("a stale result does nothing but undo a late login", actions == (input.makesUser ? [.undoAtVendor] : []))
    }
    if input.error?.origin == .unreachable {
      rule("an outage never asks the bridge", asks.isEmpty)
      rule("an outage never logs out", !wipes && logouts == 0)
    }
    if case .answered(_, .failed) = input, before.activity != .askingForSignOut {
      rule("a failing provider never logs out", !wipes && (after.phase != .locked || before.phase == .locked))
    }
    if case .signOut(let localOnly, _, _) = input {
      rule("logout is valid everywhere", finishes == 1 || [.askingForSignOut, .signingOut].contains(after.activity))
      rule(
        "a local logout is done at once", !localOnly || finishes == 1 && [.noUser, .loggedOut].contains(after.phase))
      rule("logout supersedes", after.epoch > before.epoch)
    }
    if case .signIn = input { rule("login supersedes", after.epoch > before.epoch) }
    if case .signInAccepted = input, adopts, before.phase == .locked {
      rule("nobody inherits what a locked instance still stores", actions.contains(.adopt(wipe: true)))
    }
    if case .reported = input { rule("a report alone neither wipes nor locks", !wipes && after.phase == before.phase) }
    if isDeath { rule("a dead credential is handed out no more", !after.mayHandOut || before.activity != .idle) }
    if input == .revived {
      rule("a refused credential is not revived", before.standing != .refused || after == before)
    }
    if case .failed(let error)? = input.answer, error.origin == .provider, before.cause != nil {
      rule(
        "a provider's failure is not told as the cause",
        !hasAny(.announce(.authenticationFailed(error)), .announce(.fellBackToAnonymous(error))))
    }
    if input == .merged { rule("a merge keeps the user signed in", after.phase == before.phase && !wipes) }
    if input == .mergedAway { rule("only an anonymous user can be gone", !wipes || before.phase == .anonymous) }
    if input == .wipeFailed { rule("a failed wipe locks", after.phase == .locked && !after.mayHandOut) }
    return broken
  }

  /// Whether this step may send a request to the bridge. With `renew` the caller decides that. Other inputs need an
  /// identity before and after the step, or a recovery in progress.
  private var mayAsk: Bool {
    if case .renew = input { return true }
    return before.hasIdentity && after.hasIdentity || before.isRecovering
  }

  /// Whether the vendor confirms the end of a session, which a superseded login had asked for.
  private var isLateEnd: Bool {
    if case .formerEnded(let epoch, informed: true) = input { epoch != before.epoch } else { false }
  }

  private var isDeath: Bool {
    switch input {
    case .expired, .refused, .reported: before.mayHandOut && before.phase == .authenticated
    default: false
    }
  }

  private func isAtRest(_ machine: Machine) -> Bool { machine.activity == .idle && machine.phase == .authenticated }

  private func openWaiters(_ machine: Machine) -> Int { machine.activity == .idle ? 0 : 1 }

  /// The number of activities that this step begins. A caller's login or logout always begins one. Another input begins
  /// one when the machine was idle and is now busy, or has finished at once.
  private var begun: Int {
    switch input {
    case .signIn, .signOut: 1
    default: before.activity == .idle && (after.activity != .idle || finishes > 0) ? 1 : 0
    }
  }
  private var ended: Int { finishes + actions.count { $0 == .supersede } }
  private var finishes: Int { actions.count { if case .finish = $0 { true } else { false } } }
  private var failures: Int { actions.count { if case .announce(.authenticationFailed) = $0 { true } else { false } } }
  private var logouts: Int { actions.count { if case .announce(.loggedOut) = $0 { true } else { false } } }
  private var adopts: Bool {
    actions.contains {
      switch $0 {
      case .adopt, .adoptCredential: true
      default: false
      }
    }
  }
  private func hasAny(_ some: Machine.Action...) -> Bool { actions.contains { some.contains($0) } }
}

extension AuthenticationMachine.Input {
  /// Returns every input. Results come once with each of these epochs.
  static func all(epochs: [UInt64]) -> [Self] {
    let vendor = SampleErrors.refused
    var inputs: [Self] = [
      .signIn(sameUser: nil), .signIn(sameUser: true), .signIn(sameUser: false), .signOut(localOnly: false),
      .signOut(localOnly: true), .signOut(localOnly: true, as: .deauthorized), .userNeeded,
      .renew(.bridge), .renew(.none), .renew(.init(itself: true)), .renew(.init(itself: true, bridge: true)),
      .expired(means: .init(itself: true)), .refused(vendor, means: .init(itself: true, bridge: true)),
      .expired(means: .bridge), .expired(means: .none),
      .reported(vendor, means: .bridge), .reported(vendor, means: .none), .refused(vendor, means: .bridge), .revived,
      .refused(vendor, means: .none), .wipeFailed, .merged, .mergedAway, .reportHeld(vendor),
      .reportFollowedUp(means: .bridge), .reportFollowedUp(means: .none), .foundExpired(means: .none),
      .foundExpired(means: .bridge), .signOut(localOnly: false, hasExpired: true),
    ]
    for epoch in epochs {
      inputs += [
        .formerEnded(epoch: epoch), .formerEnded(epoch: epoch, informed: true), .signInAccepted(epoch: epoch),
        .signOutAccepted(epoch: epoch),
        .anonymousAccepted(epoch: epoch), .credentialAccepted(epoch: epoch), .answered(epoch: epoch, .credential),
        .answered(epoch: epoch, .denied(SampleErrors.denied)), .answered(epoch: epoch, .failed(SampleErrors.failed)),
        .answered(epoch: epoch, .failed(SampleErrors.none)), .credentialRefused(epoch: epoch, vendor),
        .credentialUnverifiable(epoch: epoch, SampleErrors.network),
        .verificationFailed(epoch: epoch, SampleErrors.forbidden), .probed(epoch: epoch, .accepted),
        .probed(epoch: epoch, .refused(vendor)), .probed(epoch: epoch, .refused(vendor), means: .bridge),
        .signInAccepted(epoch: epoch, prepared: .anonymous),
        .signInAccepted(epoch: epoch, prepared: .authenticated), .renewedItself(epoch: epoch),
        .itselfRefused(epoch: epoch, vendor, means: .none), .itselfRefused(epoch: epoch, vendor, means: .bridge),
        .itselfRefused(epoch: epoch, SampleErrors.interrupted, means: .none),
        .itselfRefused(epoch: epoch, vendor, means: .bridge, isFinal: true),
        .itselfFailed(epoch: epoch, SampleErrors.network), .confirmed(epoch: epoch, .proceed),
        .confirmed(epoch: epoch, .declined(vendor)), .confirmed(epoch: epoch, .failed(SampleErrors.failed)),
        .answered(epoch: epoch, .declined(SampleErrors.none)),
        .probed(epoch: epoch, .unanswered(SampleErrors.serverError)),
      ]
      for error in [vendor, SampleErrors.forbidden, SampleErrors.network, SampleErrors.serverError] {
        inputs += [
          .formerEndFailed(epoch: epoch, error), .signInFailed(epoch: epoch, error),
          .signOutFailed(epoch: epoch, error),
          .anonymousFailed(epoch: epoch, error),
        ]
      }
    }
    return inputs
  }

  /// The epoch that a result carries; `nil` for an input that is not a result.
  var epoch: UInt64? {
    switch self {
    case .formerEnded(let epoch, _), .formerEndFailed(let epoch, _), .signInAccepted(let epoch, _),
      .signInFailed(let epoch, _),
      .signOutAccepted(let epoch), .signOutFailed(let epoch, _), .anonymousAccepted(let epoch),
      .anonymousFailed(let epoch, _), .answered(let epoch, _), .credentialAccepted(let epoch),
      .credentialRefused(let epoch, _), .credentialUnverifiable(let epoch, _), .verificationFailed(let epoch, _),
      .renewedItself(let epoch), .itselfRefused(let epoch, _, _, _), .itselfFailed(let epoch, _),
      .confirmed(let epoch, _),
      .probed(let epoch, _, _):
      epoch
    default: nil
    }
  }

  var answer: AuthenticationMachine.Answer? { if case .answered(_, let answer) = self { answer } else { nil } }

  var makesUser: Bool {
    switch self {
    case .signInAccepted, .anonymousAccepted: true
    default: false
    }
  }

  var error: SDKError? {
    switch self {
    case .formerEndFailed(_, let error), .signInFailed(_, let error), .signOutFailed(_, let error),
      .anonymousFailed(_, let error), .credentialRefused(_, let error), .credentialUnverifiable(_, let error),
      .verificationFailed(_, let error), .itselfFailed(_, let error), .itselfRefused(_, let error, _, _),
      .probed(_, .unanswered(let error), _), .probed(_, .refused(let error), _):
      error
    default: nil
    }
  }
}

extension AuthenticationPolicy {
  /// Policies in which every property takes at least two values.
  static let samples: [AuthenticationPolicy] = [
    .init(onDenied: .logOut, onBudgetSpent: .logOut, onAnotherUser: .signOutAfter, maxAttempts: 3),
    .init(onDenied: .lock, onBudgetSpent: .lock, onAnotherUser: .wipeOnSuccess, maxAttempts: 2),
    .init(onDenied: .keep, onBudgetSpent: .keep, onAnotherUser: .signOutFirst, maxAttempts: 1),
    .init(onDenied: .logOut, onBudgetSpent: .keep, onAnotherUser: .wipeOnSuccess, maxAttempts: 3), .guest, .visitor,
    .opaque, .exchanged,
  ]

  /// A policy that continues as a guest. The owner decides whether to continue before a credential is requested.
  static let guest = {
    var policy = AuthenticationPolicy(
      onDenied: .becomeGuest, onBudgetSpent: .becomeGuest, onAnotherUser: .wipeOnSuccess, maxAttempts: 2)
    policy.onNoMeans = .becomeGuest
    policy.confirmsFirst = true
    policy.renewsToSignOut = false
    return policy
  }()

  /// A policy that exchanges the identity again, and locks it when the vendor refuses that. A token that was never
  /// refused stays in use.
  static let opaque = {
    var policy = AuthenticationPolicy(
      onDenied: .lock, onBudgetSpent: .lock, onAnotherUser: .wipeOnSuccess, maxAttempts: 2)
    policy.onNoMeans = .lock
    policy.usesUnverified = false
    policy.renewsToSignOut = false
    policy.outlivesRefusedRenewal = true
    return policy
  }()

  /// A policy that exchanges JWTs, and counts refused ones over several renewals. Guests are replaced by others.
  static let exchanged = {
    var policy = AuthenticationPolicy(
      onDenied: .logOut, onBudgetSpent: .logOut, onAnotherUser: .signOutAfter, maxAttempts: 2)
    policy.mostRefusals = 3
    policy.replacesAnonymousUsers = true
    policy.usesUnverified = false
    policy.renewsToSignOut = false
    policy.outlivesRefusedRenewal = true
    return policy
  }()

  /// A policy that falls back to an anonymous visitor.
  static let visitor = {
    var policy = AuthenticationPolicy(
      onDenied: .fallBack, onBudgetSpent: .fallBack, onAnotherUser: .wipeOnSuccess, maxAttempts: 2)
    policy.onNoMeans = .fallBack
    policy.onFailure = .fallBack
    policy.usesUnverified = false
    policy.tellsLogoutFailure = true
    return policy
  }()
}
