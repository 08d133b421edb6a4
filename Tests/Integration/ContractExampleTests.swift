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
      let told = Self.stable(Self.shown(call.result, of: call.method, by: example.result))
      #expect(
        told == Self.stable(example.result),
        "\(call.method): \(JSONWriter.text(of: told)) is not \(JSONWriter.text(of: Self.stable(example.result)))")
      #expect(call.params.objectValue?.keys.sorted() == example.params.keys.sorted(), "\(call.method)")
    }
  }

  /// Returns the part of a result that its example shows. An example has some members of the document, which is too long
  /// for it, and need not have each limit.
  private static func shown(_ result: JSON, of method: String, by example: JSON) -> JSON {
    if method == "rpc.discover" { return .object(result.only(example)) }
    guard method == "daemon.info", var info = result.objectValue, let limits = example["limits"] else { return result }
    info["limits"] = (result["limits"]?.only(limits)).map(JSON.object)
    return .object(info)
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
  /// Returns the members that another object has too.
  fileprivate func only(_ other: JSON) -> JSONObject {
    JSONObject((other.objectValue?.keys ?? []).compactMap { name in self[name].map { (name, $0) } })
  }
}
