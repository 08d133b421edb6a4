import JSONRPC

extension Configuration {
  /// The text of a `sdkd.toml` that changes nothing: every table, and every key with its default and meaning. For the
  /// package.
  static var defaultText: String {
    var text = """
      # The configuration of sdkd. Each key stands here with its default, or as an example where it has none; take the
      # first "#" away to set it. Check with: sdkd --check. Put in force with: sdkctl reload. More: sdkd.toml(5).
      # Instances are defined in the files of instances.d/ beside this one.

      """
    for table in tables {
      text += "\n# \(table.summary)\n[\(table.name)]\n"
      for key in table.keys { text += key.commented(in: table.name) }
    }
    return text
  }
}

extension ConfigurationTable.Key {
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
