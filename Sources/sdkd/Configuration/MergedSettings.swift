import JSONRPC
import SDKInstances

/// The settings of `sdkd.toml` and its drop-ins, merged in the order of the files (sdkd.toml(5)).
///
/// A later file replaces a key with its whole value, an array too. Only keys with `isMerged` are merged by member.
struct MergedSettings {
  /// The merged tables. Contains known keys only; other keys are among the mistakes of their file.
  private(set) var root = JSONObject()
  /// The files of the keys.
  private(set) var origins = KeyOrigins()

  /// Merges a file over the former ones. Adds the mistakes in its form to its log.
  mutating func merge(_ document: JSONObject, _ log: MistakeLog) {
    log.add(Configuration.schema.findings(in: .object(document)))
    origins.begin(log)
    for table in Configuration.tables {
      guard let members = document[table.name]?.objectValue else { continue }
      var merged = root[table.name]?.objectValue ?? [:]
      for setting in table.settings {
        guard let value = members[setting.name] else { continue }
        set(setting, value, in: &merged, at: "\(table.name).\(setting.name)")
      }
      root[table.name] = .object(merged)
    }
  }

  private mutating func set(
    _ setting: Setting<Configuration>, _ value: JSON, in table: inout JSONObject, at path: String
  ) {
    if setting.isMerged, let former = table[setting.name]?.objectValue, let members = value.objectValue {
      let known = (setting.schema.members ?? []).compactMap { member in members[member.name].map { (member.name, $0) } }
      table[setting.name] = .object(former.merged(with: JSONObject(known)))
      for (name, _) in known { origins.note(path.appending(key: name)) }
    } else {
      table[setting.name] = value
      origins.note(path)
    }
  }
}

extension MergedSettings {
  /// The settings that files set, each with its value, file and line, for `sdkctl config show`. Contains no secret.
  var shown: JSON {
    var shown: [JSON] = []
    for (table, setting) in Configuration.tables.flatMap({ table in table.settings.map { (table.name, $0) } }) {
      guard let value = root[table]?[setting.name] else { continue }
      let path = "\(table).\(setting.name)"
      if setting.isMerged, let members = value.objectValue {
        shown += members.members.map { entry(path.appending(key: $0.key), $0.value) }
      } else {
        shown.append(entry(path, value))
      }
    }
    return .array(shown)
  }

  private func entry(_ path: String, _ value: JSON) -> JSON {
    var entry: JSONObject = ["key": .string(path)]
    // An invalid proxy may contain a password.
    if path != "network.proxy" || value.stringValue.flatMap(ProxyChoice.init) != nil { entry["value"] = value }
    if let log = origins.origin(of: path)?.log {
      entry["file"] = .string(log.file)
      entry["line"] = JSON(log.lines.line(of: path))
    }
    return .object(entry)
  }
}
