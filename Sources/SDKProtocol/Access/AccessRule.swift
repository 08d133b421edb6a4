public import JSONRPC

/// A rule that matches callers by one or more conditions, all of which must hold (sdkd-protocol(7)).
public struct AccessRule: Sendable, Hashable {
  /// A condition on the caller.
  public enum Condition: Sendable, Hashable {
    /// `*`: any caller that can connect.
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
    /// `user-scope:NAME@USER`: an application that the desktop of a user has started.
    case userScope(String, user: String)
  }

  /// The rule's text, as it was written.
  public let text: String
  /// The conditions, in the order of the text.
  public let conditions: [Condition]

  /// Parses a rule such as `unit:kiosk.service+user:kiosk`. Returns `nil` for any other text and for more than 512
  /// bytes of UTF-8.
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

  /// Returns whether both rules have the same text, as UTF-8 bytes: users are told apart by the bytes of their names.
  public static func == (one: AccessRule, other: AccessRule) -> Bool { one.text.hasSameBytes(as: other.text) }

  public func hash(into hasher: inout Hasher) { hasher.combine(UTF8Key(text)) }

  private static func condition(_ text: String) -> Condition? {
    if text == "*" { return .everyone }
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let value = String(text[text.index(after: colon)...])
    switch text[..<colon] {
    case "user": return isName(value) ? .user(value) : nil
    case "uid":
      // Only digits, because `UInt32` also accepts a sign. The highest uid is reserved and belongs to no user.
      guard value.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
      return UInt32(value).flatMap { $0 == .max ? nil : .uid($0) }
    case "group": return isName(value) ? .group(value) : nil
    case "unit": return isService(value) ? .unit(value) : nil
    case "user-unit":
      return owned(value).flatMap { isService($0.name) ? .userUnit($0.name, user: $0.user) : nil }
    case "user-scope":
      return owned(value).flatMap { isApplication($0.name) ? .userScope($0.name, user: $0.user) : nil }
    default: return nil
    }
  }

  /// Returns the parts of `NAME@USER`.
  private static func owned(_ text: String) -> (name: String, user: String)? {
    guard let at = text.lastIndex(of: "@") else { return nil }
    let user = String(text[text.index(after: at)...])
    return isName(user) ? (String(text[..<at]), user) : nil
  }

  /// Whether a text can be the name of a user or group. Control characters are refused because libc reads a name only
  /// up to the first NUL.
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

  /// Whether a text can be the name of a running service (systemd.unit(5)). Patterns and templates without an instance
  /// are refused, because a rule with one would never match.
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

  /// Whether a text can be the id of an application, such as `org.gnome.Terminal`. The name of a scope is refused: each
  /// start of a program has another one.
  private static func isApplication(_ text: String) -> Bool {
    isName(text) && text.utf8.count <= 255 && !text.hasSuffix(".scope") && !text.contains("/")
  }
}

extension AccessRule: Codable, JSONTextRepresentable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.named(
    "AccessRule",
    .string(
      pattern: "^\(condition)(\\+\(condition))*$",
      called: "rule: user:NAME, uid:N, group:NAME, unit:NAME.service, user-unit:NAME.service@USER, "
        + "user-scope:NAME@USER or *, joined with +"))

  /// The regular expression of a condition, for the JSON schema. It uses no look-around, which some engines lack, so it
  /// accepts more than `init`: names with invisible characters, and any number as a uid.
  private static let condition: String = {
    let name = #"([^\s\x00-\x1f\x7f*+]|\*[^\s\x00-\x1f\x7f+])[^\s\x00-\x1f\x7f+]*"#
    let user = name.replacing("+]", with: "+@]")
    let unit = #"[A-Za-z0-9:_.\\@-]+\.service"#
    let application = name.replacing("+]", with: "+/]")
    return "(\\*|user:\(name)|uid:[0-9]+|group:\(name)|unit:\(unit)|user-unit:\(unit)@\(user)"
      + "|user-scope:\(application)@\(user))"
  }()

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let rule = AccessRule(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\(text.clipped(toUTF8: 80).debugDescription) is no access rule; write user:NAME, uid:N, "
          + "group:NAME, unit:NAME.service, user-unit:NAME.service@USER, user-scope:NAME@USER or *, joined with +.")
    }
    self = rule
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  public func write(to writer: inout JSONWriter) { writer.write(string: text) }
}

/// The rules that give callers the roles observe, use and control on an instance. Each role includes the ones before
/// it.
public struct AccessRules: RPCValue, JSONObjectRepresentable, Hashable {
  /// The rules for reading state and events.
  public var observe: [AccessRule]?
  /// The rules for getting tokens and opening sessions.
  public var use: [AccessRule]?
  /// The rules for logging in and out.
  public var control: [AccessRule]?

  /// The maximum number of rules for a role.
  public static let maximumPerRole = 64

  private enum CodingKeys: String, CodingKey, CaseIterable { case observe, use, control }

  /// Creates the rules for each role. Without any rules, only the owner and admins have access.
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

  /// Returns the error message for a role with too many rules.
  public static func tooMany(_ count: Int) -> String {
    "There are \(count) rules; a role has at most \(maximumPerRole). Use a group: rule for more users."
  }

  public static let properties: [JSONProperty<AccessRules>] = [
    .optional("observe", .array(AccessRule.jsonSchema), "the rules for reading state and events") { $0.observe },
    .optional("use", .array(AccessRule.jsonSchema), "the rules for getting tokens and opening sessions") { $0.use },
    .optional("control", .array(AccessRule.jsonSchema), "the rules for logging in and out") { $0.control },
  ]

  public static let jsonSchema = JSONSchema.named("Access", .object(properties))

  /// The rules for each role, strongest role first.
  public var byRole: [(role: Role, rules: [AccessRule])] {
    [(.control, control ?? []), (.use, use ?? []), (.observe, observe ?? [])]
  }
}
