import JSONRPC
import SDKProtocol

/// A method that a verb calls for the instances of a kind, as the daemon's document describes it.
struct KindMethod: Hashable {
  /// The method's name.
  let name: String
  /// The effect of the method, in one sentence.
  let summary: String
  /// The form of the input that the verb reads.
  let input: CommandUse.Input
  /// The param that takes the input; `nil` if the input itself is the params.
  let member: String?
  /// The names of its params.
  let params: [String]
  /// The params that the verb sets itself.
  let fixed: JSONObject
  /// The names of the members that the input can have; none if the input is no object.
  let shape: [String]

  /// Returns the method that `verb` calls for instances of a kind: one of the kind's own, else a common one.
  ///
  /// - Parameter document: the result of `rpc.discover`.
  /// - Throws: `CommandFailure` when the kind has none.
  static func find(verb: String, kind: String, in document: JSON) throws -> KindMethod {
    let all = document["methods"]?.arrayValue ?? []
    let own = all.filter { $0["x-sdkd"]?["kind"]?.stringValue == kind }
    let pairs = (own + all.filter { $0["x-sdkd"]?["kind"] == nil }).lazy.compactMap { method in
      method["x-sdkd"]?["commands"]?.arrayValue?.first { $0["verb"]?.stringValue == verb }.map { (method, $0) }
    }
    guard let (found, command) = pairs.first, let name = found["name"]?.stringValue else {
      throw CommandFailure(
        message: "Instances of \(kind) have no \(verb).", reason: "methodNotFound", status: 2,
        hints: ["sdkctl explain \(kind) lists the methods of the kind"])
    }
    let params = found["params"]?.arrayValue ?? []
    let member = params.first { $0["name"] == command["member"] }
    return KindMethod(
      name: name, summary: found["summary"]?.stringValue ?? "",
      input: command["input"]?.stringValue.flatMap(CommandUse.Input.init) ?? .none,
      member: command["member"]?.stringValue,
      params: params.compactMap { $0["name"]?.stringValue }, fixed: command["params"]?.objectValue ?? [:],
      shape: members(of: member?["schema"], in: document))
  }

  /// Returns the names of an object's members, by its schema, which can be one of several.
  private static func members(of schema: JSON?, in document: JSON) -> [String] {
    guard let schema else { return [] }
    let name = schema["$ref"]?.stringValue?.split(separator: "/").last.map(String.init)
    let own = name.map { document["components"]?["schemas"]?[$0] } ?? schema
    let choices = ["allOf", "oneOf", "anyOf"].flatMap { schema[$0]?.arrayValue ?? [] }
    return (own?["properties"]?.objectValue?.keys ?? []) + choices.flatMap { members(of: $0, in: document) }
  }

  /// Returns the params of a call.
  ///
  /// - Parameters:
  ///   - read: the input of the verb; `nil` for methods that read nothing.
  ///   - extra: additional params.
  /// - Throws: `CommandFailure` for a param that the method does not have, or for an unusable input.
  func params(instance: InstanceID, read: [UInt8]?, extra: JSONObject) throws -> JSONObject {
    var params = JSONObject([("instance", JSON.string(instance.name))])
    for member in fixed.members { params[member.key] = member.value }
    if let read {
      let value = try value(of: read)
      if let member {
        params[member] = value
      } else if let object = value.objectValue {
        for inner in object.members { params[inner.key] = inner.value }
      } else {
        throw CommandFailure.input("\(name) takes a JSON object.")
      }
    }
    for added in extra.members {
      guard self.params.contains(added.key) else {
        let nearest = added.key.nearest(in: self.params).map { ["did you mean \($0)?"] } ?? []
        throw CommandFailure.usage("\(name) has no \(added.key).", hints: nearest)
      }
      params[added.key] = added.value
    }
    return params
  }

  private func value(of read: [UInt8]) throws -> JSON {
    guard input == .text else {
      let json = try Input.json(read)
      return try TokenEndpointAnswer(json)?.members(of: shape).map(JSON.object) ?? json
    }
    let text = try Input.text(read)
    if let answer = try TokenEndpointAnswer(try? JSONParser.parse(text)) { return .string(answer.text) }
    let line = text.drop(while: \.isWhitespace).prefix { !$0.isNewline }
    let rest = text[line.endIndex...]
    guard !line.isEmpty, rest.allSatisfy(\.isWhitespace) else {
      throw CommandFailure.input("One line of text is expected, such as a JWT.")
    }
    return .string(String(line.reversed().drop(while: \.isWhitespace).reversed()))
  }
}

/// The input of a verb for instances of a kind, with the contract's tested example.
struct KindInput {
  let kind: String
  /// The meaning of the input, such as `the identity of the user`.
  let meaning: String
  /// The service of the example, for kinds that have several.
  var service: String?
  let example: JSON

  /// The paragraph of a verb's help that lists these inputs.
  static func paragraph(_ inputs: [KindInput]) -> String {
    let entries = inputs.map { input in
      let option = input.service.map { ", with --service \($0)" } ?? ""
      return "  \(input.kind)\(option): \(input.meaning)\n" + input.lines.map { "    \($0)" }.joined(separator: "\n")
    }
    return (["What each kind reads, with an example:"] + entries).joined(separator: "\n")
  }

  private var lines: [String] {
    guard case .string(let text) = example else {
      return OpenRPCDocument.text(of: example).split(separator: "\n").map(String.init)
    }
    return [text]
  }
}
