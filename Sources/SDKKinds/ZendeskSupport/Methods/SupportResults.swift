import SDKInstances
import StateStore

extension SupportGetIdentity.Result.Shown {
  /// Creates what of an identity is no secret.
  init(_ identity: SupportIdentity) {
    self.init(type: identity.type.rawValue, name: identity.name, email: identity.email)
  }
}

extension SupportSetIdentity.Result {
  /// Creates the result of an accepted identity.
  init(_ outcome: SignInOutcome) {
    changed = outcome.changed
    wiped = outcome.wiped.map { Wiped(storage: $0.storage, pushes: $0.pushes, tokens: $0.tokens) }
  }
}
