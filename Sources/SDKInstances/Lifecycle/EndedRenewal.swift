public import SDKProtocol

/// A renewal that has ended, for observers.
public struct EndedRenewal: Sendable, Hashable {
  /// The trigger of a renewal.
  public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// The renewal plan: a renewal before the expiry, or a retry after a failure.
    case plan
    /// A call that found no credential with enough lifetime left.
    case call
    /// `token.refresh`.
    case refresh
    /// The credential has expired.
    case expiry
    /// The vendor refused the credential.
    case refusal
    /// An app reported that the vendor refused the credential.
    case report
    /// A restart in the middle of a renewal.
    case restart
  }

  /// The result of a renewal.
  public enum Outcome: Sendable, Hashable {
    /// The renewal brought a new credential.
    case renewed
    case failed(Reason)
    /// A login or logout replaced the renewal.
    case superseded
  }

  /// The instance's kind.
  public var kind: KindName
  /// The trigger of the renewal.
  public var trigger: Trigger
  /// The result of the renewal.
  public var outcome: Outcome
}

/// A function that observes renewals as they end. The instance waits for it, so it must be quick.
public typealias RenewalObserver = @Sendable (EndedRenewal) -> Void

extension EndedRenewal.Trigger {
  /// Creates the trigger that an input implies; `nil` when only the input's caller knows it.
  init?(_ input: AuthenticationMachine.Input) {
    switch input {
    case .expired, .foundExpired: self = .expiry
    case .refused, .probed: self = .refusal
    case .reported, .reportFollowedUp: self = .report
    default: return nil
    }
  }
}
