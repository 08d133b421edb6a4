/// A field of an audit record. The raw value is its key in a line of text (`Packaging/documentation/audit.md`).
public enum AuditField: String, Sendable, CaseIterable {
  /// The type of the record: an `AuditRecord.Kind`.
  case record
  /// The method that was called.
  case method
  /// The instance that the record is about.
  case instance
  /// The instance's kind.
  case kind
  /// The service, for kinds that have several.
  case service
  /// The uid of the caller.
  case peerUID
  /// The process id of the caller.
  case peerPID
  /// The caller's program, if the daemon may read it.
  case peerExe
  /// The caller's system unit.
  case peerUnit
  /// The caller's unit in a user's own service manager, as `NAME@UID`.
  case peerUserUnit
  /// `ok`, or the reason of the error.
  case outcome
  /// The digest of the credential.
  case tokenId
  /// The number of further occurrences since the last such record; absent in the record of the first occurrence.
  case count
  /// The type of the event.
  case event
  /// The cause of a logout, such as `implicit`, or of a restore: `restore` or `damage`.
  case cause
  /// The time of the backup that replaced the state.
  case backup
  /// The parts of the instance that a definition changed, such as `settings,access`.
  case changed
  /// The access rules of the instance since a change of them, as JSON.
  case rules
  /// The user's id, as in events: a digest where the id is a secret.
  case user
  /// The operation that the event completes.
  case operation
  /// The question that a provider was run for.
  case question
  /// The provider's program, without its arguments, or its unit as `unit:NAME`.
  case provider
  /// The result of the provider's run, such as `0`, `77`, `signal 9` or `timeout`.
  case exit
  /// The seconds that the provider took, without the wait for a slot.
  case duration
  /// The uid that owns the provider's instance; root's for an instance from a file.
  case ownerUID

  /// The field's name in the journal: `SDKD_PEER_UID` for `peerUID`.
  public var journalName: String {
    var name = "SDKD_"
    var isAfterLower = false
    for character in rawValue {
      if character.isUppercase, isAfterLower { name.append("_") }
      isAfterLower = character.isLowercase
      name += character.uppercased()
    }
    return name
  }
}
