import JSONRPC

/// A table of `sdkd.toml`: its keys, said once for the check, the messages and the file that the package brings.
struct ConfigurationTable: Sendable {
  /// A key of a table.
  struct Key: Sendable {
    /// Its name.
    var name: String
    /// The shape of its value.
    var schema: JSONSchema
    /// What it means.
    var summary: String
    /// Its default as TOML; for one that has none, an example.
    var sample: String
    /// Whether the sample is the default.
    var isDefault: Bool
  }

  /// Its name in brackets.
  var name: String
  /// What it is about.
  var summary: String
  /// Its keys, arrays of tables last.
  var keys: [Key]

  /// The shape of the table.
  var schema: JSONSchema { .object(keys.map { .optional($0.name, $0.schema, $0.summary) }) }
}

extension ConfigurationTable.Key {
  /// A key with a default.
  static func key(_ name: String, _ schema: JSONSchema, default sample: String, _ summary: String) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: true)
  }

  /// A key without a default.
  static func key(_ name: String, _ schema: JSONSchema, example sample: String, _ summary: String) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: false)
  }
}
