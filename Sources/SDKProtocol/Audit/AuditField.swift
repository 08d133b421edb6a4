/// A field of an audit record, by its key in lines of text (`Packaging/documentation/audit.md`).
public enum AuditField: String, Sendable, CaseIterable {
  /// What the record is about: an `AuditRecord.Kind`.
  case record
  /// The method that was called.
  case method
  /// The instance that it is about.
  case instance
  /// The instance's SDK.
  case kind
  /// The service, for kinds that have several.
  case service
  /// Who called: the user.
  case peerUID
  /// Who called: the process.
  case peerPID
  /// Who called: the program, where the daemon may read it.
  case peerExe
  /// Who called: the system unit.
  case peerUnit
  /// Who called: the unit of a user's own manager, as `NAME@UID`.
  case peerUserUnit
  /// `ok`, or the reason.
  case outcome
  /// Which credential: a digest.
  case tokenId
  /// How often; left out for once.
  case count
  /// Which event it was.
  case event
  /// Why a user was logged out.
  case cause
  /// Which user it was, by the id that events use; a digest where that id is a secret.
  case user
  /// The operation that the event ends.
  case operation
  /// What a provider was asked.
  case question
  /// The provider's program, without its arguments, or its unit.
  case provider
  /// How the provider ended.
  case exit
  /// How long the provider took, in seconds.
  case duration
  /// Whose provider it is.
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
