import JSONRPC

/// The examples and shapes of the contract, from the daemon's OpenRPC document.
struct ContractTopics {
  /// The OpenRPC document, as `rpc.discover` gives it.
  let document: JSON

  /// Returns the tested example of a method or a question: its params, and the result.
  func example(of method: JSON) -> [(name: String, value: JSON)] {
    guard let example = method["examples"]?.arrayValue?.first else { return [] }
    return [("example", .object(params(of: example))), ("answer", example["result"]?["value"] ?? .null)]
  }

  /// Returns how `sdkctl login` signs a user in on an instance of a kind: the command, and an example of what it reads.
  func login(of kind: JSON) -> [(name: String, value: JSON)] {
    let own = (document["methods"]?.arrayValue ?? []).filter { $0["x-sdkd"]?["kind"] == kind }
    let found = own.lazy.compactMap { method in self.command("login", of: method).map { (method, $0) } }.first
    guard let (method, command) = found, let example = method["examples"]?.arrayValue?.first else { return [] }
    var params = self.params(of: example)
    let instance = params["instance"]?.stringValue ?? "ID"
    let service = params["service"]?.stringValue.map { " --service \($0)" } ?? ""
    let line = JSON.string("sdkctl login \(instance)\(service) < FILE, which holds:")
    if let member = command["member"]?.stringValue { return [("login", line), ("input", params[member] ?? .null)] }
    // Options of the verb give these.
    for member in ["instance", "service", "wait", "timeout"] { params[member] = nil }
    return [("login", line), ("input", .object(params))]
  }

  private func command(_ verb: String, of method: JSON) -> JSON? {
    method["x-sdkd"]?["commands"]?.arrayValue?.first { $0["verb"]?.stringValue == verb && $0["input"] != "none" }
  }

  /// Returns the params of an example, by name.
  func params(of example: JSON) -> JSONObject {
    JSONObject(
      (example["params"]?.arrayValue ?? []).map { ($0["name"]?.stringValue ?? "?", $0["value"] ?? .null) })
  }

  /// The names of the shapes.
  var shapeNames: [String] { document["components"]?["schemas"]?.objectValue?.keys ?? [] }

  /// Returns the shape of this name that params and results have, such as `ChatUser`.
  func shapes(named name: String) -> [Topic] {
    (document["components"]?["schemas"]?.objectValue?.members ?? []).filter { $0.key == name }.map { shape in
      let required = shape.value["required"]?.arrayValue ?? []
      let members = (shape.value["properties"]?.objectValue?.members ?? []).map { member -> JSON in
        let mark = required.contains(.string(member.key)) ? "" : "?"
        let text = member.value["description"]?.stringValue ?? ""
        return .string("\(member.key)\(mark): \(Topics.type(of: member.value)); \(text)")
      }
      let users = (document["methods"]?.arrayValue ?? []).filter { method in
        ((method["params"]?.arrayValue ?? []) + [method["result"] ?? .null])
          .contains { Topics.type(of: $0["schema"]).split(separator: " ").contains(Substring(shape.key)) }
      }
      return Topic(
        type: "shape", name: shape.key,
        facts: [
          ("meaning", shape.value["description"] ?? .null),
          ("type", members.isEmpty ? .string(Topics.type(of: shape.value)) : .null),
          ("members", .array(members)), ("methods", .array(users.compactMap { $0["name"] })),
          ("example", ShapeExamples(document)[shape.key] ?? .null),
        ])
    }
  }
}
