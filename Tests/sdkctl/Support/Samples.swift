import JSONRPC

/// Sample responses of the daemon.
enum Samples {
  /// Returns an instance.
  static func instance(_ id: String, state: String = "authenticated", user: String? = "alice") -> JSON {
    var account: JSONObject = ["authenticationType": "jwt", "authenticated": true, "verified": true]
    if let user { account["externalId"] = .string(user) }
    return [
      "instance": .string(id), "kind": "test.kind", "source": "api", "state": .string(state),
      "user": .object(account), "labels": ["shop": "1"], "settings": ["refresh": ["margin": 30]],
    ]
  }

  static let token: JSON = [
    "token": "s3cret", "tokenId": "0011223344556677", "tokenType": "jwt", "fromCache": true, "stale": false,
    "http": ["headers": ["Authorization": "Bearer s3cret"], "cookies": ["a": "1", "b": "2"]],
  ]

  /// An OpenRPC document with the methods of three kinds.
  static let document: JSON = [
    "methods": [
      method("other.login", kind: "other.kind", verb: "login", input: "json", params: ["instance", "user"]),
      method(
        "test.signIn", kind: "test.kind", verb: "login", input: "text", member: "jwt", params: ["instance", "jwt"]),
      method("test.signOut", kind: "test.kind", verb: "logout", input: "none", params: ["instance", "localOnly"]),
      method(
        "other.login", kind: "fixed.kind", verb: "logout", input: "none", params: ["instance", "service", "user"],
        fixed: ["user": nil]),
      method(
        "test.set", kind: "test.kind", verb: "identity", input: "json", member: "identity",
        params: ["instance", "identity", "onChange"]),
      ["name": "token.get", "params": [], "x-sdkd": ["role": "use", "ordering": "read"]],
    ]
  ]

  static func method(
    _ name: String, kind: String, verb: String, input: String, member: String? = nil, params: [String],
    fixed: JSONObject? = nil
  ) -> JSON {
    var command: JSONObject = ["verb": .string(verb), "input": .string(input)]
    if let member { command["member"] = .string(member) }
    command["params"] = fixed.map(JSON.object)
    return [
      "name": .string(name), "params": .array(params.map { ["name": .string($0)] }),
      "x-sdkd": ["kind": .string(kind), "commands": [["verb": "else"], .object(command)]],
    ]
  }
}
