public import JSONRPC

/// Whom a rule lets in: one or more conditions that must all hold (`protocol.md`, "Who may call").
public struct AccessRule: Sendable, Hashable {
  /// One condition.
  public enum Condition: Sendable, Hashable {
    /// `*`: everyone who can connect.
    case everyone
    /// `user:NAME`.
    case user(String)
    /// `uid:N`.
    case uid(UInt32)
    /// `group:NAME`.
    case group(String)
    /// `unit:NAME.service`, system units only.
    case unit(String)
    /// `user-unit:NAME.service@USER`.
    case userUnit(String, user: String)
  }

  /// The rule as it was written.
  public let text: String
  /// Its conditions.
  public let conditions: [Condition]

  /// Reads a rule such as `unit:kiosk.service+user:kiosk`; `nil` if it is none.
  public init?(_ text: String) {
    guard text.utf8.count <= 512 else { return nil }
    var conditions: [Condition] = []
    for part in text.split(separator: "+", omittingEmptySubsequences: false) {
      guard let condition = Self.condition(String(part)) else { return nil }
      conditions.append(condition)
    }
    self.text = text
    self.conditions = conditions
  }

  private static func condition(_ text: String) -> Condition? {
    if text == "*" { return .everyone }
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let value = String(text[text.index(after: colon)...])
    guard !value.isEmpty, value.allSatisfy({ !$0.isWhitespace }) else { return nil }
    switch text[..<colon] {
    case "user": return .user(value)
    case "uid": return UInt32(value).map(Condition.uid)
    case "group": return .group(value)
    case "unit": return isService(value) ? .unit(value) : nil
    case "user-unit":
      guard let at = value.lastIndex(of: "@") else { return nil }
      let unit = String(value[..<at])
      let user = String(value[value.index(after: at)...])
      return isService(unit) && !user.isEmpty ? .userUnit(unit, user: user) : nil
    default: return nil
    }
  }

  private static func isService(_ unit: String) -> Bool {
    unit.hasSuffix(".service") && unit != ".service" && !unit.contains("/")
  }
}

extension AccessRule: Codable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.string(
    format: "rule: user:NAME, uid:N, group:NAME, unit:NAME.service, user-unit:NAME.service@USER or *, joined with +")

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let rule = AccessRule(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\(text.prefix(80).debugDescription) is no access rule; write user:NAME, uid:N, group:NAME, "
          + "unit:NAME.service, user-unit:NAME.service@USER or *, joined with +.")
    }
    self = rule
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// Who may observe, use and control an instance; each includes the one before it.
public struct AccessRules: RPCValue, Hashable {
  /// Who reads state and events.
  public var observe: [AccessRule]?
  /// Who gets tokens.
  public var use: [AccessRule]?
  /// Who logs in and out.
  public var control: [AccessRule]?

  /// Rules for each role; none lets in only owner and admin.
  public init(observe: [AccessRule]? = nil, use: [AccessRule]? = nil, control: [AccessRule]? = nil) {
    self.observe = observe
    self.use = use
    self.control = control
  }

  public static let jsonSchema = JSONSchema.named(
    "Access",
    .object([
      .optional("observe", .array(AccessRule.jsonSchema), "who reads state and events"),
      .optional("use", .array(AccessRule.jsonSchema), "who gets tokens and opens sessions"),
      .optional("control", .array(AccessRule.jsonSchema), "who logs in and out"),
    ]))

  /// The rules that give a role, strongest first.
  public var byRole: [(role: Role, rules: [AccessRule])] {
    [(.control, control ?? []), (.use, use ?? []), (.observe, observe ?? [])]
  }
}
