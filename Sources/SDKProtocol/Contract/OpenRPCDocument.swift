public import JSONRPC

/// The contract as an OpenRPC 1.3 document, generated from the Swift types.
public enum OpenRPCDocument {
  /// A kind of SDK, as the document describes it.
  public struct Kind: Sendable {
    let name: KindName
    let meaning: String
    let settings: JSONSchema

    /// Creates a kind with a sentence about it and the shape of its settings.
    public init(_ name: KindName, meaning: String, settings: JSONSchema) {
      self.name = name
      self.meaning = meaning
      self.settings = settings
    }
  }

  /// Returns the document for these methods, notifications, requests of the daemon, and kinds.
  ///
  /// Each method has the extension member `x-sdkd`, which `x-method-extension` describes. Notifications, requests and
  /// kinds are in `x-notifications`, `x-requests` and `x-kinds`, the errors of every request in `x-errors`, and the
  /// sentences for people in `x-sentences`.
  public static func make(
    methods: [any SDKMethod.Type], notifications: [any RPCNotification.Type],
    requests: [any DelegateRequest.Type] = CommonMethods.requests, kinds: [Kind] = []
  ) -> JSON {
    let sorted = methods.sorted { $0.name < $1.name }
    let kinds = kinds.sorted { $0.name.name < $1.name.name }
    let shapes =
      sorted.flatMap { $0.schemas } + notifications.map { $0.paramsShape } + requests.flatMap { $0.schemas }
      + kinds.map(\.settings) + [SDKError.dataSchema, MethodAccess.methodSchema]
    return [
      "openrpc": "1.3.2",
      "info": [
        "title": "sdkd", "version": .string(SDKVersion.api),
        "description": "Control protocol of sdkd: JSON-RPC 2.0, one JSON text on each line, over a Unix socket.",
        "license": ["name": "Apache-2.0"],
      ],
      "servers": servers,
      "methods": .array(sorted.map { $0.openRPC }),
      "x-notifications": .array(notifications.map { $0.openRPC }),
      "x-requests": .array(requests.map { $0.openRPC }),
      "x-errors": .array(DeclaredError.ofEveryRequest.map(\.reference)),
      "x-kinds": .array(
        kinds.map {
          ["name": .string($0.name.name), "summary": .string($0.meaning), "settings": $0.settings.document]
        }),
      "x-sentences": Sentence.document,
      "x-method-extension": ["name": "x-sdkd", "schema": MethodAccess.methodSchema.document],
      "components": [
        "schemas": .object(schemas(of: shapes, kinds)),
        "errors": .object(errors(sorted.flatMap { $0.allErrors } + DeclaredError.ofEveryRequest)),
      ],
    ]
  }

  private static let servers: JSON = [
    [
      "name": "system", "summary": "The system's daemon.", "url": "unix:/run/sdkd/sdkd.sock",
    ],
    [
      "name": "user", "summary": "A user's own daemon, below XDG_RUNTIME_DIR.",
      "url": "unix:/run/user/${uid}/sdkd/sdkd.sock",
      "variables": ["uid": ["default": "1000", "description": "the user's number"]],
    ],
    [
      "name": "tenant", "summary": "The daemon of a tenant.", "url": "unix:/run/sdkd-tenants/${tenant}.sock",
      "variables": ["tenant": ["default": "acme", "description": "the tenant's name"]],
    ],
  ]

  private static func schemas(of shapes: [JSONSchema], _ kinds: [Kind]) -> JSONObject {
    var named: [String: JSONSchema] = [:]
    for schema in shapes { named.merge(schema.namedSchemas) { first, _ in first } }
    if !kinds.isEmpty, case .named(let name, _) = KindName.jsonSchema {
      // A quarantined instance's kind can't be read.
      let all = kinds.map { ($0.name.name, $0.meaning) } + [("unknown", "A quarantined instance.")]
      named[name] = .enumeration(all.map(\.0), meanings: all.map(\.1))
    }
    return JSONObject(named.sorted { $0.key < $1.key }.map { ($0.key, $0.value.document) })
  }

  private static func errors(_ errors: [DeclaredError]) -> JSONObject {
    let named = Dictionary(errors.map { ($0.name, $0.document) }, uniquingKeysWith: { first, _ in first })
    return JSONObject(named.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }
}

extension OpenRPCDocument {
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
