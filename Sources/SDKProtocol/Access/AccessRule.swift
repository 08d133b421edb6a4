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
    switch text[..<colon] {
    case "user": return isName(value) ? .user(value) : nil
    case "uid":
      // Digits alone: `UInt32` reads a sign too. The highest number stands for no user.
      guard value.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
      return UInt32(value).flatMap { $0 == .max ? nil : .uid($0) }
    case "group": return isName(value) ? .group(value) : nil
    case "unit": return isService(value) ? .unit(value) : nil
    case "user-unit":
      guard let at = value.lastIndex(of: "@") else { return nil }
      let unit = String(value[..<at])
      let user = String(value[value.index(after: at)...])
      return isService(unit) && isName(user) ? .userUnit(unit, user: user) : nil
    default: return nil
    }
  }

  /// Whether a text can be the name of a user or group. libc reads names up to the first NUL, so controls are refused.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text != "*"
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
          .spaceSeparator:
          false
        default: true
        }
      }
  }

  /// Whether a text can be the name of a running service (systemd.unit(5)): patterns and templates without an instance
  /// are none, so a rule with one would match nobody.
  private static func isService(_ unit: String) -> Bool {
    let name = unit.dropLast(".service".count)
    return unit.hasSuffix(".service") && unit.utf8.count <= 255 && !name.isEmpty && !name.hasPrefix("@")
      && !name.hasSuffix("@")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: ":_.\\@-".utf8.contains(byte)
        }
      }
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
        debugDescription: "\(text.clipped(toUTF8: 80).debugDescription) is no access rule; write user:NAME, uid:N, "
          + "group:NAME, unit:NAME.service, user-unit:NAME.service@USER or *, joined with +.")
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

  /// The number of rules that a role can have.
  public static let maximumPerRole = 64

  private enum CodingKeys: String, CodingKey, CaseIterable { case observe, use, control }

  /// Rules for each role; none lets in only owner and admin.
  public init(observe: [AccessRule]? = nil, use: [AccessRule]? = nil, control: [AccessRule]? = nil) {
    self.observe = observe
    self.use = use
    self.control = control
  }

  /// Decodes rules.
  ///
  /// - Throws: `DecodingError` for a role with more than `maximumPerRole` rules, before any of them is read.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    for key in CodingKeys.allCases where container.contains(key) {
      guard try !container.decodeNil(forKey: key) else { continue }
      let count = try container.nestedUnkeyedContainer(forKey: key).count ?? 0
      guard count <= Self.maximumPerRole else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: Self.tooMany(count))
      }
    }
    observe = try container.decodeIfPresent([AccessRule].self, forKey: .observe)
    use = try container.decodeIfPresent([AccessRule].self, forKey: .use)
    control = try container.decodeIfPresent([AccessRule].self, forKey: .control)
  }

  /// Returns the sentence for a role with too many rules.
  public static func tooMany(_ count: Int) -> String {
    "There are \(count) rules; a role has at most \(maximumPerRole). Use a group: rule for more users."
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
