/// A record of the audit: an action, its outcome and, for a call, the caller. It never holds a secret or personal data.
public struct AuditRecord: Sendable, Hashable {
  /// The type of a record.
  public enum Kind: String, Sendable, CaseIterable {
    /// A call that changes an identity, a definition, a delegate or the daemon, or that reads an admin's data.
    case call
    /// A change of an identity, or a failed attempt, whether or not a call caused it.
    case identity
    /// The creation, change or deletion of an instance, by a call or a file.
    case definition
    /// The issue of a credential.
    case credential
    /// The refusal of a call or a connection.
    case refusal
    /// A run of a token provider.
    case provider
    /// The replacement of the state by a backup.
    case state
    /// The loss of records or log lines.
    case lost

    /// The `MESSAGE_ID` of this kind's records in the journal and its catalog.
    public var messageID: String {
      switch self {
      case .call: "6a2f1d0c9b5e4c06a3f7b1d2c4e85f01"
      case .identity: "c1b7e4a85d3f4e7f9a0c6b2d18f3e502"
      case .definition: "0d94f6b3e27a4b1c8f5a7c3e916d2b03"
      case .credential: "f38c5a1e7b604d92b6e0d4a9c27f1804"
      case .refusal: "5be07d9a41c84f36a9d2e8f0b3c61705"
      case .provider: "92d4c8f05a1b47e3bc67f1e09d3a5c06"
      case .state: "ff0934dc36ab4fa38baf9d68664c6a40"
      case .lost: "e7a05b3c9f2d41d68c1b4a7f60d98e07"
      }
    }
  }

  /// The key that marks a line of text as an audit record. The value of the key is `1`.
  public static let sign = "audit"
  /// The field that marks a journal entry as an audit record. Its value is `1`.
  public static let journalSign = "SDKD_AUDIT"
  /// The value of the field `outcome` for a success.
  public static let succeeded = "ok"

  /// The type of the record.
  public var kind: Kind
  /// A sentence for people. The only text in it that a peer can choose is the name of an instance or method.
  public var message: String
  /// The fields except `record`, which `kind` holds.
  public var fields: [AuditField: String]

  /// Creates a record.
  public init(_ kind: Kind, _ message: String, _ fields: [AuditField: String]) {
    self.kind = kind
    self.message = message
    self.fields = fields
  }
}
