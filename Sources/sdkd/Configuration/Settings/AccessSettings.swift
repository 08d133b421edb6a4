import JSONRPC
import SDKInstances
import SDKProtocol

/// `[access]`.
struct AccessSettings: SettingValues, Hashable {
  /// The admins besides root.
  var admins: [AccessRule] = []
  /// The rules under which non-admins may create instances.
  var create: [AccessPolicy.CreateRule] = []
}

extension AccessSettings {
  static let table = SettingTable<Self>(
    name: "access", summary: "Who is admin, and who may create instances.",
    settings: [
      .setting("admins", .array(AccessRule.jsonSchema), default: "[]", "Who is admin besides root.") {
        $2.admins = $0.elements(at: $1) ?? []
      },
      .setting(
        "create", .array(rule), example: "who = \"group:support\"\nprefix = \"support-\"\nmax = 20",
        "Lets others create instances whose ids begin with a prefix, so many for each user."
      ) { reader, path, settings in
        let count = reader.json(at: path)?.arrayValue?.count ?? 0
        settings.create = (0..<count).compactMap { Self.rule(reader.element($0, of: path)) }
      },
    ])

  private static let rule = JSONSchema.object([
    .required("who", AccessRule.jsonSchema, "whom the rule lets"),
    .required("prefix", .string(), "with what the ids must begin"),
    .required("max", .integer(minimum: 1), "how many instances each user may have"),
  ])

  private static func rule(_ reader: ValueReader) -> AccessPolicy.CreateRule? {
    let who = reader.value(AccessRule.self, at: "who")
    let prefix = reader.value(String.self, at: "prefix") {
      $0.isEmpty || InstanceID($0) != nil
        ? nil : "No instance id begins with this; write a-z, 0-9, dot, underscore and hyphen."
    }
    guard let who, let prefix, let most = reader.json(at: "max")?.intValue, most >= 1 else { return nil }
    return AccessPolicy.CreateRule(who: who, prefix: prefix, max: most)
  }
}
