public import JSONRPC

/// The contract as an OpenRPC 1.3 document, generated from the Swift types.
public enum OpenRPCDocument {
  /// Returns the document for these methods, notifications, requests of the daemon, and kinds with their settings.
  ///
  /// Each method has the extension member `x-sdkd` with its role, its order, its kind and the verbs of `sdkctl` that
  /// call it. Notifications, requests and kinds are in `x-notifications`, `x-requests` and `x-kinds`.
  public static func make(
    methods: [any SDKMethod.Type], notifications: [any RPCNotification.Type],
    requests: [any RPCMethod.Type] = CommonMethods.requests, kinds: [(name: KindName, settings: JSONSchema)] = []
  ) -> JSON {
    let sorted = methods.sorted { $0.name < $1.name }
    var named: [String: JSONSchema] = [:]
    let shapes =
      sorted.flatMap { $0.schemas } + notifications.map { $0.paramsSchema } + requests.flatMap { $0.schemas }
      + kinds.map(\.settings)
    for schema in shapes {
      named.merge(schema.namedSchemas) { first, _ in first }
    }
    var schemas = JSONObject()
    for (name, schema) in named.sorted(by: { $0.key < $1.key }) { schemas[name] = schema.document }
    return [
      "openrpc": "1.3.2",
      "info": [
        "title": "sdkd", "version": .string(SDKVersion.api),
        "description": "Control protocol of sdkd: JSON-RPC 2.0, one JSON text a line, over a Unix socket.",
        "license": ["name": "Apache-2.0"],
      ],
      "methods": .array(sorted.map { $0.openRPC }),
      "x-notifications": .array(
        notifications.map {
          ["name": .string($0.name), "summary": .string($0.summary), "params": $0.paramsSchema.document]
        }),
      "x-requests": .array(
        requests.map {
          [
            "name": .string($0.name), "summary": .string($0.summary), "description": .string($0.documentation),
            "params": $0.paramsShape.document, "result": $0.resultShape.document,
          ]
        }),
      "x-kinds": .array(
        kinds.sorted { $0.name.name < $1.name.name }.map {
          ["name": .string($0.name.name), "settings": $0.settings.document]
        }),
      "components": ["schemas": .object(schemas)],
    ]
  }

  /// Returns the text of the document for a file: indented, with a newline at its end.
  public static func text(of document: JSON) -> String {
    var text = ""
    write(document, indent: "", into: &text)
    return text + "\n"
  }

  private static func write(_ json: JSON, indent: String, into text: inout String) {
    let inner = indent + "  "
    switch json {
    case .object(let object) where !object.isEmpty:
      text += "{\n"
      for (index, member) in object.members.enumerated() {
        text += inner + JSONWriter.text(of: .string(member.key)) + ": "
        write(member.value, indent: inner, into: &text)
        text += index + 1 < object.count ? ",\n" : "\n"
      }
      text += indent + "}"
    case .array(let array) where !array.isEmpty:
      text += "[\n"
      for (index, element) in array.enumerated() {
        text += inner
        write(element, indent: inner, into: &text)
        text += index + 1 < array.count ? ",\n" : "\n"
      }
      text += indent + "]"
    default: text += JSONWriter.text(of: json)
    }
  }
}

extension RPCMethod {
  fileprivate static var schemas: [JSONSchema] { [paramsShape, resultShape] }
  fileprivate static var paramsShape: JSONSchema { Params.jsonSchema }
  fileprivate static var resultShape: JSONSchema { Result.jsonSchema }
}

extension SDKMethod {
  fileprivate static var openRPC: JSON {
    var extra: JSONObject = ["role": .string(access.name), "ordering": .string(ordering.name)]
    if let kind { extra["kind"] = .string(kind.name) }
    if !commands.isEmpty { extra["commands"] = .array(commands.map { .object($0.document) }) }
    let params = (Params.jsonSchema.members ?? []).map { member -> JSON in
      [
        "name": .string(member.name), "description": .string(member.summary),
        "required": .bool(member.isRequired), "schema": member.schema.document,
      ]
    }
    return [
      "name": .string(name), "summary": .string(summary), "description": .string(documentation),
      "paramStructure": "by-name", "params": .array(params),
      "result": ["name": "result", "schema": Result.jsonSchema.document],
      "x-sdkd": .object(extra),
    ]
  }
}

extension CommandUse {
  fileprivate var document: JSONObject {
    var document: JSONObject = ["verb": .string(verb), "input": .string(input.rawValue)]
    if let member { document["member"] = .string(member) }
    if !fixed.isEmpty { document["params"] = .object(fixed) }
    return document
  }
}

extension RPCNotification {
  fileprivate static var paramsSchema: JSONSchema { Params.jsonSchema }
}
