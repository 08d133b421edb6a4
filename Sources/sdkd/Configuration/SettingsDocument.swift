import JSONRPC
import SDKProtocol

/// All keys of the configuration as JSON, for the manual page sdkd.toml(5).
enum SettingsDocument {
  /// The tables of `sdkd.toml`, the keys of an instance's file, and the schemas that they refer to.
  static var json: JSON {
    let tables = Configuration.tables.map { table -> JSON in
      [
        "name": .string(table.name), "summary": .string(table.summary),
        "keys": .array(table.keys.map { $0.document }),
      ]
    }
    var schemas = JSONObject()
    let named = Configuration.schema.namedSchemas.merging(InstanceFile.schema.namedSchemas) { first, _ in first }
    for (name, schema) in named.sorted(by: { $0.key < $1.key }) { schemas[name] = schema.document }
    return [
      "tables": .array(tables), "instance": InstanceFile.schema.document,
      "components": ["schemas": .object(schemas)],
    ]
  }
}

extension ConfigurationTable.Key {
  fileprivate var document: JSON {
    [
      "name": .string(name), "summary": .string(summary), "schema": schema.document,
      isDefault ? "default" : "example": .string(sample),
    ]
  }
}
