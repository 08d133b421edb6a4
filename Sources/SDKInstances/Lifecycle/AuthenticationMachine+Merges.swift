import SDKProtocol

extension AuthenticationMachine {
  /// Handles a merge of the user into another one, whom the present credential, or one sent with the merge, represents.
  mutating func merged() -> [Action] {
    guard phase == .authenticated || phase == .anonymous, standing == .usable else { return [] }
    switch activity {
    case .idle, .renewing, .confirming, .asking, .verifying, .probing:
      // The activity in progress concerns the former user.
      return begin(.idle) + [.adopt(wipe: false)]
    case .endingFormer, .signingIn, .askingForSignOut, .signingOut, .creatingAnonymous:
      // A login or logout in progress decides on the identity.
      return [.adopt(wipe: false)]
    }
  }

  /// Handles a merge of the anonymous user into one whose credential was never supplied: the user is gone.
  mutating func mergedAway() -> [Action] {
    guard phase == .anonymous else { return [] }
    switch activity {
    case .idle, .renewing, .confirming, .asking, .verifying, .probing, .creatingAnonymous:
      let actions = begin(.idle)
      phase = .loggedOut
      standing = .none
      return actions + [.wipe, .announce(.loggedOut(.implicit))]
    case .endingFormer, .signingIn, .askingForSignOut, .signingOut: return []
    }
  }
}
