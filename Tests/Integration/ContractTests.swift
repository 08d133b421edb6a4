import Foundation
import JSONRPC
import Testing

/// The contract as the daemon publishes it and as the package contains it.
@Suite struct ContractTests {
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Packaging/openrpc.json")

  @Test func theCommittedDocumentIsTheOneThatFollowsFromTheTypes() throws {
    let committed = try String(contentsOf: Self.file, encoding: .utf8)
    let made = try Vendor.output("sdkd", ["--openrpc"])
    #expect(
      committed == made + "\n",
      "Packaging/openrpc.json is not up to date; make it anew: sdkd --openrpc > Packaging/openrpc.json")
  }

  @Test(
    "What is generated is as its sources have it",
    arguments: ["Packaging/make-contract", "Packaging/documentation/make-rows"])
  func generatedFiles(_ generator: String) throws {
    let root = Self.file.deletingLastPathComponent().deletingLastPathComponent()
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("generated-\(UUID().uuidString)")
    let log = scratch.appendingPathExtension("err")
    defer {
      try? FileManager.default.removeItem(at: scratch)
      try? FileManager.default.removeItem(at: log)
    }
    let program = try Program(
      "/usr/bin/env", ["python3", root.appendingPathComponent(generator).path, "--check"], output: scratch, log: log)
    let status = program.exit(within: 60)
    #expect(status == 0, "make it anew with \(generator): \(program.logText)")
  }

  @Test(
    "The hint for an unknown method is one that ends with the word, and never the opposite",
    arguments: [
      ("chatCenter.deauthorize", "chatCenter.deauthorizeUser"), ("loginUser", "messaging.loginUser"),
      ("chatCenter.authorise", "chatCenter.authorize"), ("nothing.like.it", ""),
    ])
  func hints(_ name: String, _ expected: String) throws {
    let error = try Desk.open().connect().failure(name)
    #expect(error.reason == "methodNotFound")
    #expect(
      error.data["hints"]?.arrayValue?.first == (expected.isEmpty ? nil : .string("nearest: \(expected)")), "\(error)")
  }

  @Test func discoverAnswersTheSame() throws {
    let desk = try Desk.open()
    let document = try desk.connect().call("rpc.discover")
    #expect(document == (try JSONParser.parse(Data(contentsOf: Self.file))))
    #expect(document["openrpc"]?.stringValue?.hasPrefix("1.3") == true)
  }

  @Test func everyMethodOfTheDocumentIsServedAndDocumented() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let methods = try line.call("rpc.discover")["methods"]?.arrayValue ?? []
    #expect(methods.count >= 24)
    for method in methods {
      let name = method["name"]?.stringValue ?? ""
      #expect(method["summary"]?.stringValue?.isEmpty == false, "\(name)")
      #expect(method["description"]?.stringValue?.isEmpty == false, "\(name)")
      #expect(method["x-sdkd"]?["role"]?.stringValue?.isEmpty == false, "\(name)")
      let answer = try line.answer(line.begin(name, ["noSuchMember": 1]))
      #expect(answer["error"]?["code"] == -32602, "\(name): \(JSONWriter.text(of: answer).prefix(200))")
    }
  }

  @Test("A stored value is there until it is deleted")
  func storage() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let key: JSON = ["instance": "desk", "key": "draft"]
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "mine"])
    #expect(try line.call("storage.get", key)["value"] == "mine")
    try line.call("storage.delete", key)
    #expect(try line.call("storage.get", key)["value"] == .null)
  }

  @Test func anotherImplementationFindsTheSchemasSound() throws {
    // python3-jsonschema reads every schema, and a response of the daemon satisfies its schema.
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let script = try desk.write(
      "check.py",
      """
      import json, socket, sys
      import jsonschema
      document = json.load(open(sys.argv[2]))
      schemas = document["components"]["schemas"]
      for schema in list(schemas.values()) + [m["result"]["schema"] for m in document["methods"]]:
          jsonschema.Draft7Validator.check_schema(schema)
      s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rwb")
      def call(name, params):
          f.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": name, "params": params}).encode() + b"\\n"); f.flush()
          return json.loads(f.readline())["result"]
      for name, params in [("daemon.info", {}), ("daemon.health", {}), ("instance.get", {"instance": "desk"}),
                           ("instance.list", {}), ("events.list", {}), ("session.open", {"instance": "desk"}),
                           ("token.get", {"instance": "desk", "http": True}), ("storage.list", {"instance": "desk"})]:
          method = next(m for m in document["methods"] if m["name"] == name)
          schema = dict(method["result"]["schema"], components=document["components"])
          jsonschema.validate(call(name, params), schema)
      print("sound")
      """)
    let runner = try desk.write(
      "check", "#!/bin/sh\nexec python3 '\(script.path)' '\(desk.socket)' '\(Self.file.path)'\n", mode: 0o755)
    #expect(try Vendor.output(runner.path, []) == "sound")
  }
}
