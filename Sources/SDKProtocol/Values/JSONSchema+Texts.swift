public import JSONRPC

extension JSONSchema {
  /// The JSON schema of a cursor: a position in the event order, as text that only the daemon can interpret.
  public static let cursor = JSONSchema.named("Cursor", .string(pattern: "^[A-Za-z0-9_-]+$", called: "cursor"))
  /// The JSON schema of a key in the app's storage. The daemon also refuses some invisible characters that the pattern
  /// allows, and a character may consist of several Unicode scalars.
  public static let storageKey = JSONSchema.named(
    "StorageKey", .string(pattern: #"^[^\x00-\x1f\x7f]+$"#, called: "1 to 128 printable characters"))
  /// The JSON schema of a JWT in its compact form (RFC 7515, section 7.1).
  public static let jwt = JSONSchema.named(
    "JWT",
    .string(format: "password", pattern: #"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$"#, called: "JWT"))
}
