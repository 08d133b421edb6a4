import JSONRPC

/// A table of `sdkd.toml`. The same keys are used for the check, the messages and the file in the package.
struct ConfigurationTable: Sendable {
  /// A key of a table.
  struct Key: Sendable {
    /// Its name.
    var name: String
    /// The shape of its value.
    var schema: JSONSchema
    /// The meaning of the key.
    var summary: String
    /// Its default as TOML; an example for a key without a default.
    var sample: String
    /// Whether the sample is the default.
    var isDefault: Bool
  }

  /// Its name in brackets.
  var name: String
  /// The subject of the table.
  var summary: String
  /// Its keys, arrays of tables last.
  var keys: [Key]

  /// The shape of the table.
  var schema: JSONSchema { .object(keys.map { .optional($0.name, $0.schema, $0.summary) }) }
}

extension ConfigurationTable.Key {
  /// Returns a key with a default.
  static func key(_ name: String, _ schema: JSONSchema, default sample: String, _ summary: String) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: true)
  }

  /// Returns a key without a default.
  static func key(_ name: String, _ schema: JSONSchema, example sample: String, _ summary: String) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: false)
  }
}
