import JSONRPC

extension RPCMethod {
  /// The shapes of the params and of the result.
  static var schemas: [JSONSchema] { [Params.jsonSchema, resultShape] }

  /// The shape of the result, named after the method if its type has no name of its own.
  fileprivate static var resultShape: JSONSchema { Result.jsonSchema.orNamed("\(name.typeName)Result") }

  /// The entry of a request to delegates.
  static var openRPCOfRequest: JSON {
    [
      "name": .string(name), "summary": .string(summary), "description": .string(documentation),
      "params": Params.jsonSchema.document, "result": resultShape.document,
    ]
  }
}

extension RPCNotification {
  /// The shape of the params.
  static var paramsShape: JSONSchema { Params.jsonSchema.orNamed("\(name.typeName)Params") }

  /// The entry of the notification.
  static var openRPC: JSON {
    ["name": .string(name), "summary": .string(summary), "params": paramsShape.document]
  }
}

extension SDKMethod {
  /// The entry of the method.
  static var openRPC: JSON {
    let params = (Params.jsonSchema.members ?? []).map { member -> JSON in
      [
        "name": .string(member.name), "description": .string(member.summary),
        "required": .bool(member.isRequired), "schema": member.schema.document,
      ]
    }
    return [
      "name": .string(name), "summary": .string(summary), "description": .string(documentation),
      "paramStructure": "by-name", "params": .array(params),
      "result": ["name": "result", "schema": resultShape.document],
      "errors": .array(allErrors.map(\.reference)),
      "examples": [
        [
          "name": .string(name),
          "params": .array(example.params.members.map { ["name": .string($0.key), "value": $0.value] }),
          "result": ["name": "result", "value": example.result],
        ]
      ],
      "x-sdkd": .object(extra),
    ]
  }

  private static var extra: JSONObject {
    var extra: JSONObject = ["role": .string(access.name), "ordering": .string(ordering.name)]
    if let kind { extra["kind"] = .string(kind.name) }
    if !commands.isEmpty { extra["commands"] = .array(commands.map { .object($0.document) }) }
    return extra
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

extension DeclaredError {
  /// The reference to the error's entry.
  var reference: JSON { ["$ref": .string("#/components/errors/\(name)")] }

  /// The entry of the error. Its data is a schema.
  var document: JSON {
    [
      "code": JSON(code), "message": .string(message),
      "data": [
        "allOf": [
          SDKError.dataSchema.document,
          ["properties": ["reason": ["enum": .array(reasons.map(JSON.string))]]],
        ]
      ],
    ]
  }
}

extension JSONSchema {
  fileprivate func orNamed(_ name: String) -> JSONSchema {
    switch self {
    case .named, .any: self
    default: .named(name, self)
    }
  }
}

extension String {
  /// A method's name as that of a type: `TokenGet` for `token.get`.
  fileprivate var typeName: String {
    split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
