/// One record of the audit: who did what, with what outcome. Never holds a secret or personal data.
public struct AuditRecord: Sendable, Hashable {
  /// What a record is about.
  public enum Kind: String, Sendable, CaseIterable {
    /// Somebody called what changes an identity, a definition or the daemon.
    case call
    /// An identity changed, whoever caused it.
    case identity
    /// An instance was made, changed or deleted, by a call or a file.
    case definition
    /// A credential was handed out.
    case credential
    /// A call or a connection was refused.
    case refusal
    /// A token provider was run.
    case provider
    /// Records were lost.
    case lost

    /// The `MESSAGE_ID` by which the journal and its catalog know records of this kind.
    public var messageID: String {
      switch self {
      case .call: "6a2f1d0c9b5e4c06a3f7b1d2c4e85f01"
      case .identity: "c1b7e4a85d3f4e7f9a0c6b2d18f3e502"
      case .definition: "0d94f6b3e27a4b1c8f5a7c3e916d2b03"
      case .credential: "f38c5a1e7b604d92b6e0d4a9c27f1804"
      case .refusal: "5be07d9a41c84f36a9d2e8f0b3c61705"
      case .provider: "92d4c8f05a1b47e3bc67f1e09d3a5c06"
      case .lost: "e7a05b3c9f2d41d68c1b4a7f60d98e07"
      }
    }
  }

  /// What the sign of an audit record is called in lines of text, where its value is `1`.
  public static let sign = "audit"
  /// The same in the journal.
  public static let journalSign = "SDKD_AUDIT"
  /// The outcome of what succeeded.
  public static let succeeded = "ok"

  /// What it is about.
  public var kind: Kind
  /// One sentence for people, without anything that a peer has chosen but names of instances and methods.
  public var message: String
  /// All the rest; `record` is not among them.
  public var fields: [AuditField: String]

  /// A record.
  public init(_ kind: Kind, _ message: String, _ fields: [AuditField: String]) {
    self.kind = kind
    self.message = message
    self.fields = fields
  }
}
