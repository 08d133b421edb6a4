import Foundation
import JSONRPC
import Testing

/// The examples of the contract, called as they are.
@Suite struct ContractExampleTests {
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Packaging/openrpc.json")

  /// The members whose values differ from run to run. Their types don't.
  private static let volatile: Set<String> = [
    "pid", "startedAt", "createdAt", "expiresAt", "since", "time", "ttl", "cursor", "storageEpoch", "token", "tokenId",
    "id", "appUserId", "clientId", "deviceAddress", "operation", "bytes", "text", "checks", "methods", "rewrapped",
    "base_url", "baseUrl", "realtimeUrl", "instanceUrl", "command", "Authorization", "X-Client-Token", "paths",
    "until",
  ]

  @Test("The example of every method succeeds, with the members and values that the document says")
  func everyExample() throws {
    let document = try JSONParser.parse(Data(contentsOf: Self.file))
    let methods = (document["methods"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
    #expect(Set(ContractExamples.order) == Set(methods))
    let calls = try ContractExamples.run(document)
    #expect(calls.map(\.method) == ContractExamples.order)
    for call in calls {
      let example = try #require(ContractExamples.example(of: call.method, in: document))
      // The document is too long for an example, which has some of its members.
      let names = call.method == "rpc.discover" ? example.result.objectValue?.keys : nil
      let told = Self.stable(names.map { JSON.object(call.result.only($0)) } ?? call.result)
      #expect(
        told == Self.stable(example.result),
        "\(call.method): \(JSONWriter.text(of: told)) is not \(JSONWriter.text(of: Self.stable(example.result)))")
      #expect(call.params.objectValue?.keys.sorted() == example.params.keys.sorted(), "\(call.method)")
    }
  }

  /// Returns a value with the names of their types in place of values that differ from run to run.
  private static func stable(_ json: JSON) -> JSON {
    switch json {
    case .object(let object):
      .object(
        JSONObject(
          object.members.map {
            ($0.key, volatile.contains($0.key) ? .string("some \($0.value.typeName)") : stable($0.value))
          }))
    case .array(let elements): .array(elements.map(stable))
    default: json
    }
  }
}

extension JSON {
  /// Returns the members with these names.
  fileprivate func only(_ names: [String]) -> JSONObject {
    JSONObject(names.compactMap { name in self[name].map { (name, $0) } })
  }
}
