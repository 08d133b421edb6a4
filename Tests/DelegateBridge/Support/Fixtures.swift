import JSONRPC
import SDKProtocol
import Testing

@testable import DelegateBridge

extension BridgeQuestion {
  static func sample(
    _ name: Name = .getToken, of instance: String = "front-desk", service: String? = nil, externalId: String? = "u-1",
    within seconds: Double = 60
  ) throws -> BridgeQuestion {
    BridgeQuestion(
      name, instance: try #require(InstanceID(instance)), kind: KindName("messaging"), service: service, attempt: 2,
      user: User(externalId: externalId), deadline: .now + seconds)
  }
}

extension ProviderConfiguration {
  /// Creates the provider that a JSON text configures. Throws the violation of the schema if there is one.
  init(json text: String) throws {
    let json = try JSONParser.parse(text)
    if let violation = Self.jsonSchema.violation(in: json) { throw violation }
    self = try JSONValueDecoder.decode(from: json)
  }
}

extension BridgeKey {
  static func numbered(_ number: Int) -> BridgeKey { BridgeKey(instance: "instance-\(number)") }
}

/// Returns the error that `body` throws; `nil` if it throws none.
func failure<T>(_ body: () async throws(SDKError) -> T) async -> SDKError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
