import JSONRPC

extension MethodAccess {
  /// All access levels that a method can require.
  static let all: [MethodAccess] = [.anyone] + Role.allCases.map(MethodAccess.role) + [.creator]

  /// The meaning of the access, as one sentence.
  private var meaning: String {
    switch self {
    case .anyone: "Any caller that can connect."
    case .role(.observe): "A caller that may read state and events."
    case .role(.use): "A caller that may also get tokens and open sessions."
    case .role(.control): "A caller that may also log in and out."
    case .role(.owner): "A caller that may also change settings and access, and delete the instance."
    case .role(.admin): "A caller with all rights on every instance."
    case .creator: "An admin, or a caller that a rule lets create instances."
    }
  }

  /// The JSON schema of a method's member `x-sdkd` in the OpenRPC document.
  static let methodSchema = JSONSchema.named(
    "MethodExtension",
    .object([
      .required(
        "role", .named("MethodRole", .enumeration(all.map(\.name), meanings: all.map(\.meaning))),
        "the access that the method requires of its caller"),
      .required(
        "ordering",
        .named(
          "MethodOrdering",
          .enumeration(
            [MethodOrdering.free, .read, .write(waits: true)].map(\.name),
            meanings: [
              "No order: it affects no instance, or its order does not matter.",
              "It sees the results of the writes that came before it on its connection.",
              "Writes on an instance are accepted in the order in which they arrive.",
            ])),
        "its order relative to other calls on the instance"),
      .optional("kind", KindName.jsonSchema, "the kind whose instances have the method; absent for all kinds"),
      .optional(
        "commands",
        .array(
          .named(
            "CommandUse",
            .object([
              .required("verb", .string(), "the verb of sdkctl"),
              .required("input", .enumeration(["none", "text", "json"]), "what the verb reads"),
              .optional("member", .string(), "the param that holds the input"),
              .optional("params", .map(.any), "the params that the verb sets itself"),
            ]))),
        "the verbs of sdkctl that call the method"),
    ]))
}
