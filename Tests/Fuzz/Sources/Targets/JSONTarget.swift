import JSONRPC
import SDKProtocol

@testable import SDKInstances
@testable import SDKKinds
@testable import StateStore
@testable import sdkd

extension FuzzTarget {
  /// JSON text: parser, writer, coders, schemas, merge patches.
  static let json = FuzzTarget("json", maximumLength: 24 << 10) { input in
    let strict = try? JSONParser.parse(input.bytes)
    if let lenient = try? JSONParser.parse(input.bytes, .server) {
      require(strict == nil || strict == lenient, "A server's JSON is read as another value.")
      checkWriting(lenient)
    } else {
      require(strict == nil, "JSON is refused where a server's is accepted.")
    }
    guard let json = strict else { return }
    checkCoding(json)
    for schema in schemas { checkViolation(schema.violation(in: json)) }
    guard let object = json.objectValue else { return }
    checkNames(object)
    _ = object.merged(with: object)
    let clipped = EventData.clipped(object)
    require(
      JSONWriter.bytes(of: .object(clipped)).count <= EventData.maximumBytes, "Clipped event data is over its bound.")
    for kind in Kinds.all { checkViolation(kind.settings.schema.violation(in: json, at: "settings")) }
  }

  private static let schemas: [JSONSchema] =
    [InstanceFile.schema, Configuration.schema] + sampleMethods.map { schema(of: $0) }

  private static let sampleMethods: [any RPCMethod.Type] = [
    InstanceCreate.self, EventsSubscribe.self, SessionOpen.self, TokenReject.self, PushRegister.self,
  ]

  private static func schema<M: RPCMethod>(of method: M.Type) -> JSONSchema { M.Params.jsonSchema }

  private static func checkWriting(_ json: JSON) {
    let text = JSONWriter.bytes(of: json)
    guard let again = try? JSONParser.parse(text) else { fatalError("Written JSON can't be read.") }
    require(again == json, "JSON is another value after writing and reading.")
    require(JSONWriter.bytes(of: again) == text, "JSON is another text after reading and writing.")
    require(!text.contains(0x0A), "Written JSON has a line break.")
    require(Set([json, again]).count == 1, "Equal JSON has different hashes.")
  }

  private static func checkCoding(_ json: JSON) {
    guard let encoded = try? JSONValueEncoder.encode(json),
      let decoded = try? JSONValueDecoder.decode(JSON.self, from: json)
    else { fatalError("JSON can't be coded as itself.") }
    require(encoded == json && decoded == json, "JSON is another value after coding.")
    _ = try? JSONValueDecoder.decode([String: String].self, from: json)
    _ = try? JSONValueDecoder.decode([Double].self, from: json)
    _ = try? JSONValueDecoder.decode(InstanceCreate.Params.self, from: json)
    _ = try? JSONValueDecoder.decode(Definition.self, from: json)
  }

  private static func checkNames(_ object: JSONObject) {
    require(Set(object.keys.map { Array($0.utf8) }).count == object.count, "A name stands twice in an object.")
    for member in object.members.prefix(64) {
      require(object[member.key] == member.value, "A member is not found by its name.")
    }
  }

  private static func checkViolation(_ violation: JSONSchemaViolation?) {
    guard let violation else { return }
    require(violation.sentence.utf8.count <= 16 << 10, "A sentence about a violation has no bound.")
  }
}
