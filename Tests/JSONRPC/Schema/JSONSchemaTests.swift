import JSONRPC
import Testing

struct JSONSchemaTests {
  private let schema = JSONSchema.object([
    .required("instance", .string(), "a"),
    .optional("limit", .integer(minimum: 1, maximum: 5), "b"),
    .optional("atLeast", .integer(minimum: 2), "b"),
    .optional("access", .named("Access", .object([.optional("use", .array(.string(called: "rule")), "c")])), "d"),
    .optional("labels", .map(.string()), "e"),
    .optional("wait", .oneOf([.number, .string(called: "duration")]), "f"),
    .optional("provider", .oneOf([.object([.required("command", .array(.string()), "g")]), .null]), "h"),
    .optional("state", .enumeration(["on", "off"]), "i"),
    .optional("flag", .boolean, "j"),
    .required("value", .any, "k"),
  ])

  private func violation(_ text: String) throws -> JSONSchemaViolation? {
    schema.violation(in: try JSONParser.parse(text))
  }

  @Test("A map has at most as many members as its shape says")
  func boundedMaps() throws {
    let schema = JSONSchema.object([.optional("labels", .map(.string(), atMost: 2), "labels")])
    #expect(schema.violation(in: ["labels": ["a": "b", "c": "d"]]) == nil)
    let found = schema.violation(in: ["labels": ["a": "b", "c": "d", "e": "f"]])
    #expect(found?.sentence == "The member labels must be an object of at most 2 members.")
    #expect(JSONSchema.map(.any, atMost: 2).document["maxProperties"] == 2)
  }

  @Test(arguments: [
    #"{"instance":"a","value":null}"#,
    #"{"instance":"a","value":1,"limit":5,"access":{"use":["x"]},"labels":{"a":"b"},"wait":1.5,"state":"on"}"#,
    #"{"instance":"a","value":1,"limit":null,"access":null,"labels":null,"wait":null,"provider":null,"flag":null}"#,
    #"{"instance":"a","value":1,"wait":"5s","limit":1.0,"provider":{"command":[]},"flag":true,"access":{}}"#,
  ])
  func `What fits is taken, and null is the same as absent`(text: String) throws {
    #expect(try violation(text) == nil)
  }

  @Test(arguments: [
    (#"{"value":1}"#, "instance", "The member instance is missing; it takes a string."),
    (#"{"limit":1}"#, "instance", "These members are missing: instance, a string; value, any value."),
    (#"{"instance":null,"value":1}"#, "instance", "The member instance must be a string."),
    (#"{"instance":"a"}"#, "value", "The member value is missing; it takes any value."),
    (#"{"instance":"a","value":1,"limit":0}"#, "limit", "The member limit must be a whole number from 1 to 5."),
    (#"{"instance":"a","value":1,"limit":1.5}"#, "limit", "The member limit must be a whole number from 1 to 5."),
    (#"{"instance":"a","value":1,"atLeast":1}"#, "atLeast", "The member atLeast must be a whole number of at least 2."),
    (
      #"{"instance":"a","value":1,"access":{"use":["x",1]}}"#, "access.use[1]",
      "The member access.use[1] must be a string (rule)."
    ),
    (
      #"{"instance":"a","value":1,"access":{"uses":[]}}"#, "access.uses",
      "The member access.uses is not known; did you mean use?"
    ),
    (#"{"instance":"a","value":1,"labels":{"a":1}}"#, "labels.a", "The member labels.a must be a string."),
    (#"{"instance":"a","value":1,"labels":[]}"#, "labels", "The member labels must be an object."),
    (#"{"instance":"a","value":1,"wait":true}"#, "wait", "The member wait must be a number, or a string (duration)."),
    (
      #"{"instance":"a","value":1,"provider":{}}"#, "provider.command",
      "The member provider.command is missing; it takes an array."
    ),
    (#"{"instance":"a","value":1,"provider":1}"#, "provider", "The member provider must be an object, or null."),
    (#"{"instance":"a","value":1,"state":"of"}"#, "state", "The member state must be one of on, off."),
    (#"{"instance":"a","value":1,"flag":"true"}"#, "flag", "The member flag must be true or false."),
    (#"{"instances":"a","value":1}"#, "instances", "The member instances is not known; did you mean instance?"),
    (
      #"{"zzzzzzzzzz":1}"#, "zzzzzzzzzz",
      "The member zzzzzzzzzz is not known; known are instance, limit, atLeast, access, labels, wait, provider, state, "
        + "flag, value."
    ),
    ("[]", "", "An object is expected."),
  ])
  func `What does not fit is named with its path`(text: String, member: String, sentence: String) throws {
    let found = try #require(try violation(text))
    #expect(found.member == member)
    #expect(found.sentence == sentence)
  }

  @Test func `An unknown name is cut to what a person reads`() throws {
    let name = String(repeating: "x", count: 5000)
    #expect(try violation(#"{"\#(name)":1}"#)?.member.count == 64)
  }

  @Test(arguments: [
    ("token.gte", "token.get"), ("tokenget", "token.get"), ("Token.Get", "token.get"),
    ("events.suscribe", "events.subscribe"),
    ("x", nil), ("completely-different", nil), ("", nil as String?),
  ])
  func `The nearest name is one that can be meant`(name: String, expected: String?) {
    #expect(name.nearest(in: ["token.get", "events.subscribe", "instance.get"]) == expected)
  }

  @Test func `A long text is near to nothing`() {
    #expect(String(repeating: "x", count: 2000).nearest(in: ["token.get", "instance.create"]) == nil)
  }

  @Test func `The document says the same in JSON Schema's words`() {
    let document = schema.document
    #expect(document["type"] == "object")
    #expect(document["additionalProperties"] == false)
    #expect(document["required"] == ["instance", "value"])
    #expect(document["properties"]?["limit"] == ["type": "integer", "minimum": 1, "maximum": 5, "description": "b"])
    #expect(document["properties"]?["access"]?["allOf"] == [["$ref": "#/components/schemas/Access"]])
    #expect(document["properties"]?["state"]?["enum"] == ["on", "off"])
    #expect(document["properties"]?["labels"]?["additionalProperties"] == ["type": "string"])
    #expect(document["properties"]?["value"] == ["description": "k"])
    #expect(Set(schema.namedSchemas.keys) == ["Access"])
    #expect(JSONSchema.empty.document == ["$ref": "#/components/schemas/Empty"])
    #expect(
      JSONSchema.empty.namedSchemas["Empty"]?.document
        == ["type": "object", "properties": [:], "additionalProperties": false])
  }

  @Test("A string's pattern and format are published, and neither is checked")
  func patterns() {
    let schema = JSONSchema.string(pattern: "^[a-z]+$", called: "lower-case word")
    #expect(schema.document == ["type": "string", "description": "lower-case word", "pattern": "^[a-z]+$"])
    #expect(schema.violation(in: "UPPER") == nil)
    #expect(schema.expectation == "a string (lower-case word)")
    #expect(JSONSchema.string(format: "date-time").document == ["type": "string", "format": "date-time"])
    #expect(JSONSchema.string(format: "date-time").expectation == "a string (date-time)")
  }

  @Test("An enumeration has a sentence for each value")
  func meanings() {
    let schema = JSONSchema.enumeration(["on", "off"], meanings: ["It works.", "It does not."])
    #expect(schema.document["x-enum-descriptions"] == ["It works.", "It does not."])
    #expect(schema.document["enum"] == ["on", "off"])
    #expect(schema.expectation == "one of on, off")
  }

  @Test("A constant tells the shapes of objects apart")
  func constants() {
    let one = JSONSchema.object([.required("type", .constant("one"), "a")])
    let two = JSONSchema.object([.required("type", .constant("two"), "b")])
    let schema = JSONSchema.oneOf([one, two], discriminator: "type")
    #expect(schema.document["discriminator"] == ["propertyName": "type"])
    #expect(schema.document["oneOf"]?.arrayValue?.first?["properties"]?["type"]?["const"] == "one")
    #expect(schema.violation(in: ["type": "two"]) == nil)
    #expect(schema.violation(in: ["type": "three"])?.sentence == "The member type must be \"one\".")
    #expect(JSONSchema.constant("one").violation(in: 1) != nil)
  }
}
