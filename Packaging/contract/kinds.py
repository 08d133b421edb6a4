"""The facts about kinds that `sdkctl` and the tests read: the calls of the vendors' own SDKs, the rules of JWTs, and an
instance at the sandbox."""
import json, textwrap
import methods, swift

SOURCE = "Contract/SDKKinds/*/kind.toml"
KEYS = "name title word place jwt sandbox rows sdk_calls"
SANDBOX_KEYS = "prefix settings provider exchange unanswered_push replaces_users sign_in sign_out lock unprobed"


def difference(text):
    line = f"      difference: {swift.literal(text)}),\n"
    if len(line) <= swift.WIDTH + 1:
        return line
    if 8 + len(swift.literal(text)) + 2 <= swift.WIDTH:
        return f"      difference:\n        {swift.literal(text)}),\n"
    lines = textwrap.wrap(text.replace("\\", "\\\\"), swift.WIDTH - 10, break_long_words=False, break_on_hyphens=False)
    return '      difference: """\n        ' + " \\\n        ".join(lines) + '\n        """),\n'


def calls(kinds):
    yield swift.head(SOURCE, "import SDKProtocol")
    yield "extension SDKCall {\n  /// All calls, by kind.\n  static let all: [SDKCall] = [\n"
    for kind in kinds:
        for call in kind["sdk_calls"]:
            swift.check_keys(f"sdk_calls of {kind['name']}", call, "names methods events difference")
            yield f"    .init(\n      kind: {swift.literal(kind['name'])},\n"
            yield swift.listed("names: [", list(map(swift.literal, call["names"])), "],", 6)
            yield swift.listed("methods: [", list(map(swift.literal, call["methods"])), "],", 6)
            if "events" in call:
                yield swift.listed("events: [", list(map(swift.case, call["events"])), "],", 6)
            yield difference(call["difference"])
    yield "  ]\n}\n"


def audiences(kinds):
    yield swift.head(SOURCE, "import ArgumentParser", "import JWTRules", "import SDKProtocol")
    yield "/// The SDK that a JWT is for. Each has its own rules.\n"
    yield "enum JWTAudience: String, CaseIterable, ExpressibleByArgument {\n"
    for kind in kinds:
        yield f"  case {kind['word']} = {swift.literal(kind['name'])}\n"
    words = [f"{swift.literal(kind['word'])}: {swift.case(kind['word'])}" for kind in kinds]
    yield "\n  /// The short names, as in `sdk-sandbox mint`. The kinds' own names are accepted too.\n"
    yield swift.listed("private static let short: [String: JWTAudience] = [", words, "]", 2)
    yield "\n  init?(argument: String) {\n"
    yield "    guard let audience = Self.short[argument] ?? JWTAudience(rawValue: argument) else { return nil }\n"
    yield "    self = audience\n  }\n"
    yield "\n  /// Returns the findings about a JWT for this SDK at a time.\n"
    yield "  func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {\n"
    rules = [(kind["word"], f"{kind.get('jwt', 'OpaqueRules')}.findings(in: jwt, now: now)") for kind in kinds]
    yield from swift.switch(rules, 4)
    yield "  }\n}\n"


def call(found):
    swift.check_keys("a call", found, "method params")
    method = swift.literal(found["method"])
    if "params" not in found:
        return f".init({method})"
    params = methods.value(json.loads(found["params"]), 6)
    return f".init(\n      {method},\n      {params})" if "\n" in params else f".init({method}, {params})"


def samples(kinds):
    yield swift.head(SOURCE, "import JSONRPC")
    yield "extension KindSample {\n  /// All kinds.\n"
    yield f"  static let all: [KindSample] = {swift.array([kind['word'] for kind in kinds], 2)}\n"
    for kind in kinds:
        sandbox = kind["sandbox"]
        swift.check_keys(f"sandbox of {kind['name']}", sandbox, SANDBOX_KEYS)
        yield f"\n  static let {kind['word']} = KindSample(\n"
        parts = [
            f"kind: {swift.literal(kind['name'])}", f"sdk: {swift.literal(sandbox['prefix'])}",
            f"settings: {methods.value(sandbox['settings'], 4)}"]
        if "provider" in sandbox:
            parts.append(f"provider: {swift.literal(sandbox['provider'])}")
        parts += [f"signIn: {call(sandbox['sign_in'])}", f"signOut: {call(sandbox['sign_out'])}"]
        if "exchange" in sandbox:
            parts.append(f"exchange: {swift.literal(sandbox['exchange'])}")
        if "lock" in sandbox:
            parts.append(f"lock: {call(sandbox['lock'])}")
        if not sandbox.get("replaces_users", True):
            parts.append("replacesUsers: false")
        if "unprobed" in sandbox:
            parts.append(f"unprobed: {swift.array(list(map(swift.literal, sandbox['unprobed'])), 4)}")
        if "unanswered_push" in sandbox:
            parts.append(f"unansweredPush: {methods.value(sandbox['unanswered_push'], 4)}")
        yield ",\n".join(f"    {part}" for part in parts) + ")\n"
    yield "}\n"


def files(kinds):
    for kind in kinds:
        swift.check_keys(kind["name"], kind, KEYS)
    kinds = sorted(kinds, key=lambda kind: kind["place"])
    yield "Sources/sdkctl/Explain/SDKCall+All.swift", calls(kinds)
    yield "Sources/sdkctl/Arguments/JWTAudience.swift", audiences(kinds)
    yield "Tests/Integration/Support/KindSample+All.swift", samples(kinds)
