import JSONRPC

/// A table of `sdkd.toml`. The same keys are used for the check, the messages and the file in the package.
struct ConfigurationTable: Sendable {
  /// A key of a table.
  struct Key: Sendable {
    /// The name of the key.
    var name: String
    /// The schema of the key's value.
    var schema: JSONSchema
    /// The meaning of the key.
    var summary: String
    /// The key's default as TOML; an example for a key without a default.
    var sample: String
    /// Whether the sample is the default.
    var isDefault: Bool
    /// Whether a drop-in sets single members of the value, a table. Otherwise it replaces the value.
    var isMerged = false
  }

  /// The name of the table in brackets.
  var name: String
  /// The subject of the table.
  var summary: String
  /// The keys of the table, arrays of tables last.
  var keys: [Key]

  /// The schema of the table.
  var schema: JSONSchema { .object(keys.map { .optional($0.name, $0.schema, $0.summary) }) }
}

extension ConfigurationTable.Key {
  /// Returns a key with a default.
  static func key(
    _ name: String, _ schema: JSONSchema, isMerged: Bool = false, default sample: String, _ summary: String
  ) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: true, isMerged: isMerged)
  }

  /// Returns a key without a default.
  static func key(_ name: String, _ schema: JSONSchema, example sample: String, _ summary: String) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: false)
  }
}
