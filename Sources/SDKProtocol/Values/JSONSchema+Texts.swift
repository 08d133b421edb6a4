public import JSONRPC

extension JSONSchema {
  /// The shape of a position in the event order. Its text means something only to the daemon's state.
  public static let cursor = JSONSchema.named("Cursor", .string(pattern: "^[A-Za-z0-9_-]+$", called: "cursor"))
  /// The shape of a key of the app's storage. The pattern does not say which invisible characters are refused, nor that
  /// a character may consist of several scalars.
  public static let storageKey = JSONSchema.named(
    "StorageKey", .string(pattern: #"^[^\x00-\x1f\x7f]+$"#, called: "1 to 128 printable characters"))
  /// The shape of a JWT in its compact form (RFC 7515, section 7.1).
  public static let jwt = JSONSchema.named(
    "JWT", .string(pattern: #"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$"#, called: "JWT"))
}
