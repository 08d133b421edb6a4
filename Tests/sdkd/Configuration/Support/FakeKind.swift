import JSONRPC
import SDKInstances
import SDKProtocol

/// A kind with settings of several types.
struct FakeKind: SDKKind {
  struct FakeSettings: RPCValue {
    var base_url: String
    var app_id: String
    var client_secret: String?
    var common: CommonSettings

    private enum CodingKeys: String, CodingKey { case base_url, app_id, client_secret }

    static let jsonSchema = JSONSchema.object(
      [
        .required("base_url", .url, "where the vendor is"),
        .required("app_id", .string(), "the app"),
        .optional("client_secret", .string(), "a secret"),
      ] + CommonSettings.members)

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      base_url = try container.decode(String.self, forKey: .base_url)
      app_id = try container.decode(String.self, forKey: .app_id)
      client_secret = try container.decodeIfPresent(String.self, forKey: .client_secret)
      common = try CommonSettings(from: decoder, mode: .lazy)
      try URLRule.check(base_url, setting: "base_url")
    }
  }

  var name = KindName("zendesk.messaging")
  let summary = "A kind for tests."
  let settings = KindSettings(
    schema: FakeSettings.jsonSchema, secrets: ["client_secret"], urls: ["base_url"], backend: ["base_url", "app_id"],
    vendorDomains: ["example"])
  var methods: [any SDKMethod.Type] { [] }

  func register(in router: inout CallRouter, registry: InstanceRegistry) {}

  func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    let settings = try Settings.decode(FakeSettings.self, from: settings, at: "settings")
    return FakeAdapter(common: settings.common)
  }
}
