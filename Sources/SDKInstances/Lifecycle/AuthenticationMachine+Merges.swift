extension AuthenticationMachine {
  /// The vendor merged the user into another one, for whom the credential at hand, or one that came along, speaks.
  mutating func merged() -> [Action] {
    guard phase == .authenticated || phase == .anonymous, standing == .usable else { return [] }
    switch activity {
    case .idle, .renewing, .confirming, .asking, .verifying, .probing:
      // What is under way is about the former user.
      return begin(.idle) + [.adopt(wipe: false)]
    case .endingFormer, .signingIn, .askingForSignOut, .signingOut, .creatingAnonymous:
      // A login or logout has the last word.
      return [.adopt(wipe: false)]
    }
  }

  /// The vendor merged the anonymous user into one who needs a credential that nobody has shown: the user is gone.
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
