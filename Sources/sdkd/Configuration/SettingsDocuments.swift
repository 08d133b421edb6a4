import JSONRPC
import SDKProtocol

/// All keys of the configuration as JSON, for the manual page sdkd.toml(5).
enum SettingsDocument {
  /// The tables of `sdkd.toml`, the keys of an instance's file, and the schemas that they refer to.
  static var json: JSON {
    let tables = Configuration.tables.map { table -> JSON in
      [
        "name": .string(table.name), "summary": .string(table.summary),
        "keys": .array(table.settings.map { $0.document }),
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

extension Setting {
  fileprivate var document: JSON {
    [
      "name": .string(name), "summary": .string(summary), "schema": schema.document,
      isDefault ? "default" : "example": .string(sample),
    ]
  }
}

extension Configuration {
  /// The text of a `sdkd.toml` that changes nothing: every table, and every key with its default and meaning. For the
  /// package.
  static var defaultText: String {
    var text = """
      # The configuration of sdkd. Each key stands here with its default, or as an example where it has none; take the
      # first "#" away to set it. Check with: sdkctl config check. Put in force with: sdkctl reload. More: sdkd.toml(5).
      # Instances are defined in the files of instances.d/ beside this one.

      """
    for table in tables {
      text += "\n# \(table.summary)\n[\(table.name)]\n"
      for setting in table.settings { text += setting.commented(in: table.name) }
    }
    return text
  }
}

extension Setting {
  /// Returns the key as lines of comment. A setting has no space after the `#`, an explanation has one.
  fileprivate func commented(in table: String) -> String {
    let note = isDefault ? summary : "\(summary) An example:"
    guard isArrayOfTables else {
      return "# \(note)\n#\(name) = \(sample)\n"
    }
    let lines = ["[[\(table).\(name)]]"] + sample.split(separator: "\n").map(String.init)
    return "# \(note)\n" + lines.map { "#\($0)\n" }.joined()
  }

  private var isArrayOfTables: Bool {
    guard case .array(let element) = schema else { return false }
    return element.members != nil
  }
}
