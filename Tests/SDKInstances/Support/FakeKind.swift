import JSONRPC
import SDKProtocol

@testable import SDKInstances

/// A kind that has its own login and logout methods when it is named `fake.chat`.
struct FakeKind: SDKKind {
  var name = KindName("fake.chat")
  let summary = "A kind for tests."
  var vendor = FakeVendor()
  var policy = AuthenticationPolicy.samples[0]
  let settings = KindSettings(
    schema: JSONSchema.object(
      CommonSettings.members + [
        .required("base_url", .string(), "where"), .optional("anonymous", .boolean, "anonymous users"),
        .optional("services", .array(.string()), "services"), .optional("farewell", .boolean, "tells of wipes"),
        .optional("farewell_ends", .boolean, "until somebody signs in"),
        .optional("realtime", .boolean, "keeps a connection"), .optional("orphans", .boolean, "leaves pushes"),
        .optional("one_push", .boolean, "keeps one push"), .optional("overwrites", .boolean, "replaces a push"),
        .optional("retry", .boolean, "tries logouts again"),
        .optional("forgets", .boolean, "keeps no identity"),
        .optional("renews", .boolean, "renews a credential with its refresh token"),
        .optional("key", .string(), "a secret"), .optional("key_file", .string(), "a file"),
      ]),
    secrets: ["key"], adminOnly: ["key_file"], urls: ["base_url"], backend: ["base_url"], vendorDomains: ["example"])
  var methods: [any SDKMethod.Type] { name == FakeLogin.kind ? [FakeLogin.self, FakeLogout.self] : [] }

  func register(in router: inout CallRouter, registry: InstanceRegistry) {
    guard !methods.isEmpty else { return }
    router.register(on: registry, FakeLogin.self) { params, instance, context in
      try await instance.signIn(params.token) { context.accepted() }
    }
    router.register(on: registry, FakeLogout.self) { params, instance, context in
      FakeLogout.Result(
        informed: try await instance.signOut(localOnly: params.localOnly ?? false) { context.accepted() })
    }
  }

  func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter {
    if let violation = self.settings.schema.violation(in: .object(settings), at: "settings") {
      throw RPCError.invalidParams(violation)
    }
    let refresh = try settings["refresh"].map { try JSONValueDecoder.decode(RefreshSettings.self, from: $0) }
    let common = CommonSettings(timeout: nil, caFile: nil, refresh: refresh, mode: .lazy)
    var policy = policy
    policy.maxAttempts = common.maxAttempts
    return FakeAdapter(vendor: vendor, common: common, policy: policy, settings: settings)
  }
}

enum FakeLogin: SDKMethod {
  static let name = "fake.login"
  static let summary = "Logs in."
  static let documentation = "Logs in."
  static let access = MethodAccess.role(.control)
  static let ordering = MethodOrdering.write(waits: false)
  static let kind: KindName? = KindName("fake.chat")
  static let example = MethodExample(["instance": "desk"])
  struct Params: RPCValue, InstanceParams {
    var instance: InstanceID
    var token: Secret
    static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "where"), .required("token", .string(), "the token"),
    ])
  }
  typealias Result = User
}

enum FakeLogout: SDKMethod {
  static let name = "fake.logout"
  static let summary = "Logs out."
  static let documentation = "Logs out."
  static let access = MethodAccess.role(.control)
  static let ordering = MethodOrdering.write(waits: false)
  static let kind: KindName? = KindName("fake.chat")
  static let example = MethodExample(["instance": "desk"])
  struct Params: RPCValue, InstanceParams {
    var instance: InstanceID
    var localOnly: Bool?
    static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "where"), .optional("localOnly", .boolean, "tell nobody"),
    ])
  }
  struct Result: RPCValue {
    var informed: Bool
    static let jsonSchema = JSONSchema.object([.required("informed", .boolean, "whether the vendor knows")])
  }
}
