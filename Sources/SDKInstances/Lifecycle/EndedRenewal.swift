public import SDKProtocol

/// A renewal of a credential that has ended, for whoever observes renewals.
public struct EndedRenewal: Sendable, Hashable {
  /// What begins a renewal.
  public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// The plan: before the credential ends, or again after a failure.
    case plan
    /// A call that found no credential which lives long enough.
    case call
    /// `token.refresh`.
    case refresh
    /// The credential has ended.
    case expiry
    /// The vendor refused the credential.
    case refusal
    /// An app says that the vendor did.
    case report
    /// A restart in the middle of a renewal.
    case restart
  }

  /// How it ended.
  public enum Outcome: Sendable, Hashable {
    /// There is a new credential.
    case renewed
    case failed(Reason)
    /// A login or logout took its place.
    case superseded
  }

  /// The instance's SDK.
  public var kind: KindName
  /// What began it.
  public var trigger: Trigger
  /// How it ended.
  public var outcome: Outcome
}

/// Hears of renewals as they end, while the instance waits: it must be quick.
public typealias RenewalObserver = @Sendable (EndedRenewal) -> Void

extension EndedRenewal.Trigger {
  /// What an input says of why a renewal begins; `nil` when that is known only to who gives it.
  init?(_ input: AuthenticationMachine.Input) {
    switch input {
    case .expired: self = .expiry
    case .refused, .probed: self = .refusal
    case .reported: self = .report
    default: return nil
    }
  }
}

extension EndedRenewal.Outcome {
  /// What the actions of a renewal's last step say.
  init(_ actions: [AuthenticationMachine.Action]) {
    self = .superseded
    for action in actions {
      switch action {
      case .finish(.done): self = .renewed
      case .finish(.failed(let error)), .announce(.refreshFailed(let error)): self = .failed(error.reason)
      default: break
      }
    }
  }
}
