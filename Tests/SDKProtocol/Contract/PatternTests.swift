import JSONRPC
import SDKProtocol
import Testing

/// The published patterns compared with what the types accept.
struct PatternTests {
  /// Samples for a type: texts that it accepts, and texts that it and its pattern refuse.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let schema: JSONSchema
    let accepts: @Sendable (String) -> Bool
    let accepted: [String]
    let refused: [String]
    var testDescription: String { name }

    init<T: RPCValue>(_ type: T.Type, accepted: [String], refused: [String]) {
      name = "\(type)"
      schema = T.jsonSchema
      accepts = { (try? JSONValueDecoder.decode(T.self, from: .string($0))) != nil }
      self.accepted = accepted
      self.refused = refused
    }
  }

  static let cases = [
    Case(
      InstanceID.self, accepted: ["a", "0", "front-desk", "a.b_c-9", String(repeating: "x", count: 64)],
      refused: ["", "A", "-a", ".a", "a b", "ä", "a/b", String(repeating: "x", count: 65)]),
    Case(
      Seconds.self, accepted: ["10s", "5m", "2h", "1d", "250ms", "0", "1.5s", ".5", "7."],
      refused: ["", "s", "10 s", "-1s", "+1", "1e3", "0x10", "1.2.3", ".", "10S", "ms", "inf", "nan"]),
    Case(
      AccessRule.self,
      accepted: [
        "*", "user:kiosk", "user:Jörg", "user:*a", "uid:0", "uid:1000", "group:staff", "unit:kiosk.service",
        "unit:kiosk@1.service", #"unit:a\x2db.service"#, "user-unit:app.service@alice",
        "user-scope:org.gnome.Terminal@alice", "user-scope:google-chrome@Jörg", "user-scope:a@b@alice",
        "unit:kiosk.service+user:kiosk", "user:a+group:b+uid:7",
      ],
      refused: [
        "", "kiosk", "user:", "user:*", "user:a b", "user:a\u{0}b", "user:a+", "+user:a", "uid:x", "uid:", "uid:-1",
        "unit:kiosk", "unit:.timer", "unit:a*.service", "user-unit:app.service", "user-unit:app.service@", "role:admin",
        "user-scope:firefox", "user-scope:firefox@", "user-scope:@alice", "user-scope:*@alice", "user-scope:a/b@alice",
        "**",
      ]),
  ]

  @Test("A published pattern accepts what the type accepts, and refuses the same samples", arguments: cases)
  func patternsAgree(sample: Case) throws {
    let pattern = try #require(Self.pattern(of: sample.schema))
    for text in sample.accepted {
      #expect(sample.accepts(text), "\(text)")
      #expect(try Self.matches(text, pattern), "\(text)")
    }
    for text in sample.refused {
      #expect(!sample.accepts(text), "\(text.debugDescription)")
      #expect(try !Self.matches(text, pattern), "\(text.debugDescription)")
    }
  }

  @Test("The pattern of a JWT accepts what can be decoded")
  func jwt() throws {
    let pattern = try #require(Self.pattern(of: .jwt))
    for text in [MethodExample.jwt.stringValue ?? "", "e30.e30."] {
      #expect(DecodedJWT(text) != nil, "\(text)")
      #expect(try Self.matches(text, pattern), "\(text)")
    }
    for text in ["", "e30", "e30.e30", ".e30.x", "e30..x", "e30.e30.x=", "e30.e30.x.y", "e30.e3 0.x"] {
      #expect(DecodedJWT(text) == nil, "\(text)")
      #expect(try !Self.matches(text, pattern), "\(text)")
    }
  }

  @Test("The id of a token has the published pattern")
  func tokenId() throws {
    let pattern = try #require(Self.pattern(of: TokenID.jsonSchema))
    for text in ["", "a", "another token"] {
      #expect(try Self.matches(TokenID(Secret(text)).description, pattern))
    }
    #expect(try !Self.matches("not an id", pattern))
  }

  @Test("No pattern needs look-around or a backreference, which some engines lack")
  func patternsArePlain() throws {
    for method in CommonMethods.all {
      for schema in method.shapes.flatMap({ $0.namedSchemas.values }) {
        guard let pattern = Self.pattern(of: schema) else { continue }
        for construct in ["(?", "\\1", "\\p", "\\b"] { #expect(!pattern.contains(construct), "\(pattern)") }
      }
    }
  }

  private static func pattern(of schema: JSONSchema) -> String? {
    switch schema {
    case .string(_, let pattern, _): pattern
    case .named(_, let schema): pattern(of: schema)
    case .oneOf(let schemas, _): schemas.lazy.compactMap { pattern(of: $0) }.first
    default: nil
    }
  }

  private static func matches(_ text: String, _ pattern: String) throws -> Bool {
    try Regex(pattern).matchingSemantics(.unicodeScalar).wholeMatch(in: text) != nil
  }
}

extension SDKMethod {
  fileprivate static var shapes: [JSONSchema] { [Params.jsonSchema, Result.jsonSchema] }
}
