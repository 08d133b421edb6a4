import SDKProtocol

/// A step that the state machine writes while it processes an input.
///
/// It is written in this order: the activity that ends without a result, the change of the identity, the notices, and
/// last the work that begins or the outcome.
protocol StepWriter {
  /// Fails the callers that wait for the former activity with `superseded`.
  mutating func supersede()

  /// Adopts the identity that the vendor accepted. With `wiping`, the former identity is wiped first.
  mutating func adopt(wiping: Bool)
  /// Replaces the credential by the new one.
  ///
  /// - Parameter isAnonymous: whether it is the credential of an anonymous user.
  mutating func adoptCredential(verified: Bool, isAnonymous: Bool)
  /// Continues as an anonymous visitor instead of the user. The identity is kept.
  mutating func fallBack(keepingCredential: Bool)
  /// Destroys identity, storage and keys.
  mutating func wipe()
  /// Stores the changed phase of the instance.
  mutating func record()
  /// Emits an event.
  mutating func announce(_ notice: AuthenticationMachine.Notice)

  /// Exchanges the credential of a login at the vendor.
  mutating func exchange()
  /// Ends the former user's session. `mayHaveCredential` is `false` for a credential that is known to be none.
  mutating func endFormer(mayHaveCredential: Bool, epoch: UInt64)
  mutating func endSession()
  mutating func createAnonymous()
  /// Requests a credential from the bridge.
  mutating func ask(attempt: Int, isRefusal: Bool, _ error: SDKError?)
  /// Renews the credential by the SDK itself, without the owner. Records a single-use credential that is about to be
  /// used up, so that a crash during its use is detected.
  mutating func renewItself()
  /// Notifies the owner of the failure and requests a decision whether to continue.
  ///
  /// - Parameter attempt: the number of the credential that is requested next.
  mutating func confirm(_ error: SDKError, attempt: Int, epoch: UInt64)
  mutating func verify()
  mutating func probe(epoch: UInt64)
  /// Undoes at the vendor a login, or the creation of an anonymous user, that succeeded too late to be used.
  mutating func undoAtVendor()
  /// Ends the activity and notifies the callers that wait for it.
  mutating func finish(_ outcome: AuthenticationMachine.Outcome)
}
