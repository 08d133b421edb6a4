import Foundation
import Glibc
import JSONRPC
import Testing

/// A caller without a role can't distinguish a hidden instance from a missing one, in any method of the contract.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct HiddenInstanceTests {
  /// A generator of params from the contract's schemas.
  private struct Sampler {
    let schemas: JSON
    let instance: String

    func value(_ schema: JSON, deep: Bool) -> JSON {
      if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
        return value(schemas[String(name)] ?? [:], deep: deep)
      }
      if let only = schema["allOf"]?.arrayValue?.first { return value(only, deep: deep) }
      if let first = schema["enum"]?.arrayValue?.first ?? schema["const"] { return first }
      if let first = (schema["oneOf"] ?? schema["anyOf"])?.arrayValue?.first { return value(first, deep: deep) }
      switch schema["type"]?.stringValue {
      case "string": return text(schema["description"]?.stringValue ?? "")
      case "integer", "number": return schema["minimum"] ?? 1
      case "boolean": return false
      case "array": return .array([value(schema["items"] ?? [:], deep: deep)])
      case "object":
        var object = JSONObject()
        let required = schema["required"]?.arrayValue ?? []
        for member in schema["properties"]?.objectValue?.members ?? [] where required.contains(.string(member.key)) {
          object[member.key] = value(member.value, deep: deep)
        }
        return .object(object)
      default: return 1
      }
    }

    private func text(_ description: String) -> JSON {
      if description.hasPrefix("instance id") { return .string(instance) }
      if description.hasPrefix("rule") { return "*" }
      return "x"
    }

    /// - Parameter all: with the members that may be left out.
    func params(_ method: JSON, all: Bool) -> JSON {
      var params = JSONObject()
      for param in method["params"]?.arrayValue ?? [] {
        guard let name = param["name"]?.stringValue, let schema = param["schema"] else { continue }
        let names = ["instance", "instances"].contains(name)
        if all || names || param["required"] == true { params[name] = value(schema, deep: all) }
      }
      return .object(params)
    }
  }

  @Test func everyMethodAnswersTheSameBytesButForTheName() throws {
    let desk = try Desk.open(
      configuration: "[[access.create]]\nwho = \"uid:65534\"\nprefix = \"mine-\"\nmax = 3\n")
    let line = try desk.connect()
    for sample in KindSample.all { try desk.create("hidden-\(sample.sdk)", sample, user: "alice", on: line) }
    try desk.signIn("hidden-zm", .messaging, as: "alice", on: line)
    let document = try line.call("rpc.discover")
    let schemas = try #require(document["components"]?["schemas"])
    var calls: [(method: String, params: JSON)] = []
    for method in document["methods"]?.arrayValue ?? [] {
      let names = (method["params"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
      guard let name = method["name"]?.stringValue, names.contains("instance") || names.contains("instances") else {
        continue
      }
      for sample in KindSample.all {
        for all in [false, true] {
          for prefix in ["hidden", "absent"] {
            calls.append(
              (name, Sampler(schemas: schemas, instance: "\(prefix)-\(sample.sdk)").params(method, all: all)))
          }
        }
      }
    }
    #expect(calls.count >= 33 * 20, "the contract has at least 33 methods on instances")
    let answers = try Caller(uid: 65534).lines(desk, calls)
    #expect(answers.count == calls.count)
    var reasons: [String: Set<String>] = [:]
    for index in stride(from: 0, to: min(answers.count, calls.count), by: 2) {
      let (hidden, missing) = (answers[index], answers[index + 1])
      let method = calls[index].method
      #expect(
        hidden.replacingOccurrences(of: "hidden-", with: "absent-") == missing, "\(method) \(calls[index].params)")
      let reason = try JSONParser.parse(hidden)["error"]?["data"]?["reason"]?.stringValue ?? "none"
      reasons[method, default: []].insert(reason)
    }
    // Each method got as far as the instance: params that are refused earlier would prove nothing.
    for (method, seen) in reasons {
      #expect(seen.contains(method == "instance.create" ? "accessDenied" : "instanceNotFound"), "\(method): \(seen)")
    }
  }

  @Test func listsEventsAndHealthTellNothing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let methods: [(method: String, params: JSON)] = [
      ("instance.list", [:]), ("instance.list", ["labels": ["team": "a"]]), ("instance.list", ["after": "hidden"]),
      ("events.list", [:]), ("daemon.health", [:]), ("instance.list", ["kind": "zendesk.messaging", "limit": 1]),
    ]
    func told() throws -> [JSON] {
      try Caller(uid: 65534).lines(desk, methods).map { line in
        var answer = try JSONParser.parse(line)["result"]?.objectValue ?? [:]
        // Each response seals its cursor again, so that two cursors never match.
        answer["cursor"] = nil
        return .object(answer)
      }
    }
    let before = try told()
    try desk.create("hidden-zm", .messaging, user: "alice", on: line)
    try line.call("instance.update", ["instance": "hidden-zm", "labels": ["team": "a"]])
    try desk.signIn("hidden-zm", .messaging, as: "alice", on: line)
    #expect(try told() == before)
  }

  @Test func inABatchAHiddenInstanceIsAMissingOne() throws {
    let desk = try Desk.open()
    try desk.create("hidden", .messaging, user: "alice", on: try desk.connect())
    func batch(_ id: String) -> String {
      let calls: [JSON] = ["instance.get", "token.get", "messaging.logoutUser", "instance.delete"].map {
        ["jsonrpc": "2.0", "id": 1, "method": .string($0), "params": ["instance": .string(id)]]
      }
      return JSONWriter.text(of: .array(calls))
    }
    let script = try desk.write(
      "batch.py",
      """
      import os, socket, sys
      os.setgroups([]); os.setgid(65534); os.setuid(65534)
      s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rwb")
      for text in sys.argv[2:]:
          f.write(text.encode() + b"\\n"); f.flush(); sys.stdout.write(f.readline().decode())
      """)
    let text = try Vendor.output(
      "/usr/bin/python3", [script.path, desk.socket, batch("hidden"), batch("absent")])
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && lines.first?.contains("instanceNotFound") == true)
    #expect(lines.first?.replacingOccurrences(of: "hidden", with: "absent") == lines.last)
  }
}
