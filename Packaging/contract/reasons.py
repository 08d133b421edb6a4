"""The reasons of errors, their codes, and the groups of errors that methods share."""
import methods, shapes, swift

SOURCE = "Contract/reasons.toml"
KEYS = {"origins": "code meaning", "reasons": "origins cause show remedy retryable", "protocol": "code exit cause message show remedy",
        "client": "exit retry cause show remedy", "errors": "doc origin reasons", "lists": "doc errors"}


def reason(data):
    yield swift.head(SOURCE, "public import JSONRPC")
    yield "/// The stable name of an error's cause (sdkd-protocol(7)).\n"
    yield "public enum Reason: String, Sendable, Codable, JSONTextRepresentable, DescribedEnumeration {\n"
    for name, one in data["reasons"].items():
        yield swift.document(one["cause"], 2) + f"  case {swift.name(name)}\n"
    yield '\n  public static let jsonSchema = schema(named: "Reason")\n\n'
    yield "  public var meaning: String { guide.cause }\n\n"
    yield "  /// Whether the same call may succeed later although nothing is changed.\n"
    yield "  public var isRetryable: Bool {\n    switch self {\n"
    yield swift.pattern([name for name, one in data["reasons"].items() if one.get("retryable")], 4) + "      true\n"
    yield "    default: false\n    }\n  }\n}\n\n"
    yield "/// The stable name of an error of JSON-RPC itself, which any message can get (sdkd-protocol(7)).\n"
    yield "public enum ProtocolReason: String, Sendable, DescribedEnumeration {\n"
    for name, one in data["protocol"].items():
        yield swift.document(one["cause"], 2) + f"  case {name}\n"
    yield '\n  public static let jsonSchema = schema(named: "ProtocolReason")\n\n'
    yield "  public var meaning: String {\n"
    yield from swift.switch([(name, swift.quoted(one["cause"], 6)) for name, one in data["protocol"].items()], 4)
    yield "  }\n}\n"


def guide(data):
    yield swift.head(SOURCE)
    yield "extension Reason {\n  /// The explanation of the reason.\n  public var guide: ReasonGuide {\n    switch self {\n"
    for name, one in data["reasons"].items():
        yield f"    case {swift.case(name)}:\n      ReasonGuide(\n"
        parts = [f"[{', '.join(map(swift.case, one['origins']))}]", swift.quoted(one["cause"], 8)]
        yield "".join(f"        {part},\n" for part in parts) + f"        {swift.quoted(one['remedy'], 8)})\n"
    yield "    }\n  }\n}\n"


def errors(data):
    yield swift.head(SOURCE, "import JSONRPC")
    yield "extension SDKError {\n  /// The origin of an error. The raw value is the error's JSON-RPC code.\n"
    yield "  public enum Origin: Int, Sendable, Codable {\n"
    for name, one in data["origins"].items():
        yield swift.document(one["meaning"], 4) + f"    case {name} = {one['code']}\n"
    yield "\n    /// The meaning of the code, as one sentence.\n    public var meaning: String {\n"
    yield from swift.switch([(name, swift.quoted(one["meaning"], 8)) for name, one in data["origins"].items()], 6)
    yield "    }\n  }\n}\n\n/// The errors that several methods share.\nextension DeclaredError {\n"
    for name, one in data["errors"].items():
        yield swift.document(one["doc"], 2)
        yield swift.listed(f"public static let {name} = DeclaredError(", methods.declared(name, one), ")", 2)
    for name, one in data["lists"].items():
        line = swift.listed(f"public static let {name}: [DeclaredError] = [", map(swift.case, one["errors"]), "]", 2)
        yield "\n" + swift.document(one["doc"], 2) + line
    yield "\n  /// The errors that any request can get, whatever its method.\n  public static let ofEveryRequest = [\n"
    codes = {}
    for name, one in data["protocol"].items():
        codes.setdefault(one["code"], []).append(name)
    for code, names in codes.items():
        first = data["protocol"][names[0]]
        text = swift.literal(first.get("message", first["cause"]))
        yield f"    DeclaredError({code}, [{', '.join(map(swift.case, names))}], {text}),\n"
    yield "    callLimits,\n  ]\n}\n\nextension SDKError {\n  /// The JSON schema of an error's `data`.\n"
    yield f"  static let dataSchema = {shapes.schema('ErrorData', shapes.members(data['data'], {}), 2)}\n\n"
    yield "  /// A mistake in the configuration.\n  private enum ConfigurationMistake {\n    static let jsonSchema = "
    yield f"{shapes.schema('ConfigurationMistake', shapes.members(data['mistake'], {}), 4)}\n  }}\n}}\n"


def entries(data):
    yield swift.head(SOURCE, "import SDKProtocol")
    yield "extension ReasonEntry {\n  /// The errors of the protocol.\n  static let ofProtocol = [\n"
    for name, one in data["protocol"].items():
        parts = [swift.case(name), str(one["code"]), str(one["exit"]), swift.quoted(one["remedy"], 6)]
        yield swift.listed("ReasonEntry(", parts, "),", 4)
    yield "  ]\n\n  /// The errors of `sdkctl` and `SDKClient`.\n  static let ofClient = [\n"
    for name, one in data["client"].items():
        parts = [swift.literal(name), ".client", str(one["exit"])]
        parts += [f"retry: .{one['retry']}"] if "retry" in one else []
        parts += [swift.quoted(one["cause"], 6), swift.quoted(one["remedy"], 6)]
        yield swift.listed("ReasonEntry(", parts, "),", 4)
    yield "  ]\n}\n"


def files(data):
    for section, keys in KEYS.items():
        for name, one in data[section].items():
            swift.check_keys(f"{section}.{name}", one, keys)
    yield "Sources/SDKProtocol/Errors/Reason.swift", reason(data)
    yield "Sources/SDKProtocol/Errors/Reason+Guide.swift", guide(data)
    yield "Sources/SDKProtocol/Errors/DeclaredError+Groups.swift", errors(data)
    yield "Sources/sdkctl/Explain/ReasonEntry+Tables.swift", entries(data)
