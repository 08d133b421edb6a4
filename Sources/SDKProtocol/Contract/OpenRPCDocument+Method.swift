import JSONRPC

extension RPCMethod {
  /// The JSON schemas of the params and of the result.
  static var schemas: [JSONSchema] { [Params.jsonSchema, resultShape] }

  /// The JSON schema of the result. A schema without a name gets the method's name with `Result` appended.
  fileprivate static var resultShape: JSONSchema { Result.jsonSchema.orNamed("\(name.typeName)Result") }
}

extension DelegateRequest {
  /// The entry of the request in the OpenRPC document, under `x-requests`.
  static var openRPC: JSON {
    [
      "name": .string(name), "summary": .string(summary), "description": .string(documentation),
      "params": Params.jsonSchema.document, "result": resultShape.document, "examples": [example.document(of: name)],
    ]
  }
}

extension RPCNotification {
  /// The JSON schema of the params.
  static var paramsShape: JSONSchema { Params.jsonSchema.orNamed("\(name.typeName)Params") }

  /// The entry of the notification in the OpenRPC document, under `x-notifications`.
  static var openRPC: JSON {
    ["name": .string(name), "summary": .string(summary), "params": paramsShape.document]
  }
}

extension SDKMethod {
  /// The entry of the method in the OpenRPC document, under `methods`.
  static var openRPC: JSON {
    let params = (Params.jsonSchema.members ?? []).map { member -> JSON in
      [
        "name": .string(member.name), "description": .string(member.summary),
        "required": .bool(member.isRequired), "schema": member.schema.document,
      ]
    }
    // Viewers group methods by their tags.
    let tags = [String(name.prefix { $0 != "." })] + [kind?.name].compactMap { $0 }
    return [
      "name": .string(name), "tags": .array(tags.map { ["name": .string($0)] }), "summary": .string(summary),
      "description": .string(documentation), "paramStructure": "by-name", "params": .array(params),
      "result": ["name": "result", "schema": resultShape.document],
      "errors": .array(allErrors.map(\.reference)),
      "examples": [example.document(of: name)],
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

extension MethodExample {
  /// Returns an Example Pairing Object of OpenRPC.
  fileprivate func document(of name: String) -> JSON {
    [
      "name": .string(name),
      "params": .array(params.members.map { ["name": .string($0.key), "value": $0.value] }),
      "result": ["name": "result", "value": result],
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

extension DeclaredError {
  /// The JSON reference to the error's entry in the OpenRPC document.
  var reference: JSON { ["$ref": .string("#/components/errors/\(name)")] }

  /// The entry of the error in the OpenRPC document, under `components/errors`. Its member `data` is a JSON schema.
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
  /// The method's name in the form of a type's name: `TokenGet` for `token.get`.
  fileprivate var typeName: String {
    split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
