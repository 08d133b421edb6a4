"""What is made from the data files of the kinds: the lists of kinds and of the sandbox's backends, the calls of the vendors' own
SDKs, the rules of JWTs, what `sdkctl login` reads and its words for methods, an instance at the sandbox for the tests and the
quick start, another for the fuzzer, and the sandbox's help."""
import json, re, textwrap
import documents, methods, swift

SOURCE = "Contract/SDKKinds/*/kind.toml"
KEYS = "folder name title word place jwt sandbox fuzz model documents rows sdk_calls methods"
SANDBOX_KEYS = (
    "prefix backend help settings urls other_backend refusal keeps_users provider exchange unanswered_push replaces_users sign_in "
    "sign_out lock unprobed examples")
HELP_KEYS = "accounts keys null_secret options control"
MODEL_KEYS = "sign_in answer credential tokens jwt issued users by_id revokes"
ISSUED_KEYS, USERS_KEYS = "list token user", "list id user"
# The keys that each kind must have, by the table that they are in.
REQUIRED = {
    "": "name title word place sandbox fuzz model documents rows sdk_calls",
    "sandbox": "prefix backend settings urls other_backend refusal sign_in sign_out", "fuzz": "settings answer",
    "documents": documents.KEYS}
# The letters of the rows that all kinds have in common (make-rows).
COMMON_ROWS = "RX"


def constant(kind):
    """The name of a kind's constant, as the files of its methods have it."""
    return kind["folder"][0].lower() + kind["folder"][1:]


def letter(kind):
    """The letter of a kind's rows. In lower case, the model and its programs call the kind by it."""
    return next(iter(kind["rows"]), "")[:1]


def missing(kind):
    """The required keys that a kind's file has not, by their full names."""
    for table, keys in REQUIRED.items():
        data = kind.get(table, {}) if table else kind
        yield from (f"{table}.{key}" if table else key for key in keys.split() if key not in data)
    grants = "{grant." in kind.get("sandbox", {}).get("sign_in", {}).get("params", "")
    if not grants and "sign_in" not in kind.get("model", {}):
        yield "model.sign_in"


def mistakes(kind, others):
    """What is wrong in a kind's file beside unknown keys. `others` are the files of the other kinds that have all keys."""
    if lacking := list(missing(kind)):
        yield f"these keys are missing: {', '.join(lacking)}"
        return
    if not re.fullmatch("[a-z][a-z0-9]*", kind["word"]) or kind["word"] in {*swift.KEYWORDS, "all"}:
        yield f"word is {kind['word']}, and must be an identifier of Swift in lower case"
    letters = {row[:1] for row in kind["rows"]}
    if len(letters) != 1 or not all(re.fullmatch(r"[A-Z]\d+", row) for row in kind["rows"]) or letter(kind) in COMMON_ROWS:
        yield f"the rows must be called by one capital letter, none of {COMMON_ROWS}, and a number"
    for what, of in [("name", lambda one: one["name"]), ("word", lambda one: one["word"]), ("place", lambda one: one["place"]),
                     ("sandbox.prefix", lambda one: one["sandbox"]["prefix"]), ("the letter of the rows", letter)]:
        yield from (f"{what} is {of(kind)}, as that of {one['name']}" for one in others if of(one) == of(kind))
    for name, method in kind["methods"].items():
        if method["kind"] != constant(kind):
            yield f"{name}: kind must be {constant(kind)}, the name of the folder with a small first letter"
    for table, keys in [("issued", ISSUED_KEYS), ("users", USERS_KEYS)]:
        if table in kind["model"] and set(kind["model"][table]) != set(keys.split()):
            yield f"model.{table} must have these keys: {keys}"
    if "tokens" in kind["model"] and "issued" not in kind["model"]:
        yield "model.issued is missing: whose tokens of the forms in model.tokens are"
    help = kind["sandbox"].get("help", {})
    if ("keys" in help) != ("null_secret" in help):
        yield "sandbox.help must have both keys and null_secret, or neither"
    logins = [name for name, method in kind["methods"].items()
              if any(command["verb"] == "login" for command in method.get("commands", []))]
    if len(logins) != 1:
        yield f"one of its methods must have the verb login in commands, and {len(logins)} have: {', '.join(logins)}"


def check(kinds):
    """Fails for all mistakes in the kinds' files at once."""
    for kind in kinds:
        what = f"Contract/SDKKinds/{kind['folder']}/kind.toml"
        for table, keys in [("", KEYS), ("sandbox", SANDBOX_KEYS), ("model", MODEL_KEYS)]:
            swift.check_keys(f"{what}: {table or 'it'}", kind.get(table, {}) if table else kind, keys)
    whole = [kind for kind in kinds if not list(missing(kind))]
    found = [f"Contract/SDKKinds/{kind['folder']}/kind.toml: {mistake}" for kind in kinds
             for mistake in mistakes(kind, [one for one in whole if one is not kind])]
    if found:
        raise ValueError("\n".join(found))


def hosted(kinds):
    yield swift.head(SOURCE, "public import SDKInstances", "import SDKProtocol")
    yield "/// The kinds that this daemon hosts. Each has a folder here.\npublic enum Kinds {\n  /// All kinds.\n"
    yield "  public static let all: [any SDKKind] = [\n"
    yield "".join(f"    {kind['folder']}(),\n" for kind in kinds)
    yield "  ]\n}\n\n/// The names of the kinds, by which a kind's methods say which instances they are for.\n"
    yield "extension KindName {\n"
    yield "".join(f"  static let {constant(kind)} = KindName({swift.literal(kind['name'])})\n" for kind in kinds)
    yield "}\n"


def example(kinds):
    yield swift.head(SOURCE, "public import JSONRPC")
    yield "extension MethodExample {\n  /// The names of all kinds, as `daemon.info` lists them.\n"
    names = [swift.literal(name) for name in sorted(kind["name"] for kind in kinds)]
    yield swift.listed("public static let kinds: JSON = [", names, "]", 2) + "}\n"


def backends(kinds):
    yield swift.head(SOURCE)
    yield "/// The backends of all SDKs that the sandbox imitates.\nenum BackendList {\n"
    yield "  /// The backends with the short name and the name of their kind.\n"
    yield "  static let named: [(word: String, kind: String, backend: any SandboxBackend.Type)] = [\n"
    for kind in kinds:
        names = f"{swift.literal(kind['word'])}, {swift.literal(kind['name'])}"
        yield f"    ({names}, {kind['sandbox']['backend']}.self),\n"
    yield "  ]\n\n  static let all: [any SandboxBackend.Type] = named.map(\\.backend)\n\n"
    yield "  /// Returns a new backend of each type, by path prefix.\n"
    yield "  static func fresh() -> [String: any SandboxBackend] {\n    var backends: [String: any SandboxBackend] = [:]\n"
    yield "    for backend in all { backends[backend.prefix] = backend.init() }\n    return backends\n  }\n}\n"


def either(words):
    """The words as an alternative for people."""
    return f"{', '.join(words[:-1])} or {words[-1]}"


def help(kinds):
    """The parts of the sandbox's help that are about one kind. Their texts are Swift: `\\(…)` is a value of the sandbox."""
    yield swift.head(SOURCE, "import SandboxServer")
    yield "extension HelpText {\n"
    yield "  /// The prefixes of the backends.\n"
    yield f"  static let prefixes = {swift.literal(either([kind['sandbox']['prefix'] for kind in kinds]))}\n"
    for key, what, gap, pad in [
            ("accounts", "The accounts of a new namespace, SDK by SDK.", "\n\n", 0),
            ("keys", "The requests that change keys and accounts.", "\n", 4),
            ("null_secret", "The effect of a null secret on each backend that has keys.", "\n", 4),
            ("options", "The options of the backends.", "\n", 4),
            ("control", "The control requests that one backend has.", "\n", 2)]:
        parts = []
        for kind in kinds:
            found = kind["sandbox"].get("help", {})
            swift.check_keys(f"sandbox.help of {kind['name']}", found, HELP_KEYS)
            text = found.get(key, "").strip("\n")
            if key in ("null_secret", "options") and text:
                first = f"{kind['sandbox']['prefix']:<4}"
                text = "\n".join((first if not number else "    ") + line for number, line in enumerate(text.split("\n")))
            if text:
                parts.append(textwrap.indent(text, " " * pad))
        text = textwrap.indent(gap.join(parts), "    ")
        name = {"control": "ownControl", "null_secret": "nullSecrets"}.get(key, key)
        yield f"\n  /// {what}\n  static let {name} = \"\"\"\n{text}\n    \"\"\"\n"
    yield "}\n"


def shell(text):
    return "'" + text.replace("'", "'\\''") + "'"


def quickstart(kinds):
    """The instances of the quick start, as arguments of its function `kind`."""
    yield f"# Generated by Packaging/make-contract from {SOURCE}: don't edit.\n"
    yield "# kind WORD KIND PREFIX PROVIDER METHOD PARAMS SETTING…: see all-kinds.\n"
    for kind in kinds:
        sandbox = kind["sandbox"]
        sign_in = sandbox["sign_in"]
        words = [kind["word"], kind["name"], sandbox["prefix"]]
        words += [shell(text) for text in [sandbox.get("provider", ""), sign_in["method"], sign_in.get("params", "{}")]]
        settings = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in sandbox["settings"].items()]
        yield " ".join(["kind", *words]) + "".join(f" \\\n  {shell(setting)}" for setting in settings) + "\n"


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
            yield swift.argument("difference", call["difference"], "),")
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
    yield "\n  /// The short names for people.\n"
    yield f"  static let words = {swift.literal(either([kind['word'] for kind in kinds]))}\n"
    yield "\n  init?(argument: String) {\n"
    yield "    guard let audience = Self.short[argument] ?? JWTAudience(rawValue: argument) else { return nil }\n"
    yield "    self = audience\n  }\n"
    yield "\n  /// Returns the findings about a JWT for this SDK at a time.\n"
    yield "  func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {\n"
    rules = [(kind["word"], f"{kind.get('jwt', 'OpaqueRules')}.findings(in: jwt, now: now)") for kind in kinds]
    yield from swift.switch(rules, 4)
    yield "  }\n}\n"


def inputs(kinds):
    yield swift.head("Contract/SDKKinds/*/Methods", "import JSONRPC", "import SDKProtocol")
    yield "extension KindInput {\n  /// The input of `sdkctl login` for each kind.\n  static let login: [KindInput] = [\n"
    for kind in kinds:
        (name, method, command), = [
            (name, method, command) for name, method in kind["methods"].items()
            for command in method.get("commands", []) if command["verb"] == "login"]
        params = json.loads(method["example"]["params"])
        service = params.pop("service", None)
        if "member" in command:
            text = re.split("[:;]", method["params"][command["member"]]["text"])[0]
            params = params[command["member"]]
        else:
            # Options of the verb give the others.
            text = f"the params of {name}"
            params = {key: one for key, one in params.items() if key not in ("instance", "wait", "timeout")}
        yield f"    .init(\n      kind: {swift.literal(kind['name'])}, meaning: {swift.literal(text)},\n"
        if service:
            yield f"      service: {swift.literal(service)},\n"
        yield f"      example: {methods.value(params, 6)}),\n"
    yield "  ]\n}\n"


def words(kinds):
    yield swift.head("Contract/SDKKinds/*/Methods")
    yield "extension CommandWords {\n  /// The verb for each method of a kind that a verb calls.\n"
    yield "  static let ofKinds: [(method: String, command: String)] = [\n"
    for kind in kinds:
        for name, method in kind["methods"].items():
            for command in method.get("commands", [])[:1]:
                yield f"    ({swift.literal(name)}, {swift.literal('sdkctl ' + command['verb'])}),\n"
    yield "  ]\n}\n"


def call(found, indent=4):
    swift.check_keys("a call", found, "method params")
    method = swift.literal(found["method"])
    if "params" not in found:
        return f".init({method})"
    params, pad = methods.value(json.loads(found["params"]), indent + 2), " " * (indent + 2)
    return f".init(\n{pad}{method},\n{pad}{params})" if "\n" in params else f".init({method}, {params})"


def samples(kinds):
    yield swift.head(SOURCE, "import JSONRPC")
    yield "extension KindSample {\n  /// All kinds.\n"
    yield f"  static let all: [KindSample] = {swift.array([kind['word'] for kind in kinds], 2)}\n"
    for kind in kinds:
        sandbox = kind["sandbox"]
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
        parts.append(f"urls: {swift.array(list(map(swift.literal, sandbox['urls'])), 4)}")
        parts.append(f"otherBackend: {methods.value(sandbox['other_backend'], 4)}")
        parts.append(f"refusal: {methods.value(json.loads(sandbox['refusal']), 4)}")
        if sandbox.get("keeps_users", False):
            parts.append("keepsUsers: true")
        if not sandbox.get("replaces_users", True):
            parts.append("replacesUsers: false")
        if "unprobed" in sandbox:
            parts.append(f"unprobed: {swift.array(list(map(swift.literal, sandbox['unprobed'])), 4)}")
        if "unanswered_push" in sandbox:
            parts.append(f"unansweredPush: {methods.value(sandbox['unanswered_push'], 4)}")
        if examples := sandbox.get("examples"):
            swift.check_keys(f"sandbox.examples of {kind['name']}", examples, "instance calls")
            if missing := set(kind["methods"]) ^ {one["method"] for one in examples["calls"]}:
                raise ValueError(f"sandbox.examples of {kind['name']} must have each of its methods: {', '.join(missing)}")
            lines = ",\n".join(" " * 8 + call(one, 8) for one in examples["calls"])
            parts.append(f"examples: (\n      instance: {swift.literal(examples['instance'])},\n      calls: [\n{lines},\n      ]\n    )")
        yield ",\n".join(f"    {part}" for part in parts) + ")\n"
    yield "}\n"


def fuzzed(kinds):
    yield swift.head(SOURCE, "import JSONRPC", "import SDKInstances", "", "@testable import SDKKinds")
    yield "extension FuzzTarget {\n  /// Each kind with the settings of an instance, and an answer of its owner.\n"
    yield "  static let kindSamples: [(name: String, kind: any SDKKind, settings: JSONObject, answer: JSONObject)] = [\n"
    for kind in kinds:
        fuzz = kind["fuzz"]
        swift.check_keys(f"fuzz of {kind['name']}", fuzz, "settings answer jwt")
        answer = methods.value(fuzz["answer"], 6).replace(swift.literal("{jwt}"), f"{kind['word']}JWT")
        yield f"    (\n      {swift.literal(kind['word'])}, {kind['folder']}(),\n"
        yield f"      {methods.value(fuzz['settings'], 6)},\n      {answer}\n    ),\n"
    yield "  ]\n"
    for kind in kinds:
        if jwt := kind["fuzz"].get("jwt"):
            yield f"\n  private static let {kind['word']}JWT = jwt(\n"
            yield f"    {methods.value(jwt['header'], 4)},\n    {methods.value(jwt['claims'], 4)})\n"
    yield "}\n"


def files(kinds):
    check(kinds)
    kinds = sorted(kinds, key=lambda kind: kind["place"])
    yield "Sources/SDKKinds/Kinds.swift", hosted(kinds)
    yield "Sources/SDKProtocol/Methods/MethodExample+Kinds.swift", example(kinds)
    yield "Sources/SandboxServer/Namespaces/BackendList.swift", backends(kinds)
    yield "Sources/sdk-sandbox/HelpText+Kinds.swift", help(kinds)
    yield "Packaging/quickstart.d/kinds", quickstart(kinds)
    yield "Sources/sdkctl/Explain/SDKCall+All.swift", calls(kinds)
    yield "Sources/sdkctl/Arguments/JWTAudience.swift", audiences(kinds)
    yield "Sources/sdkctl/KindMethods/KindInput+All.swift", inputs(kinds)
    yield "Sources/sdkctl/Program/CommandWords+Kinds.swift", words(kinds)
    yield "Tests/Integration/Support/KindSample+All.swift", samples(kinds)
    yield "Tests/Fuzz/Sources/Targets/KindTargets+Samples.swift", fuzzed(kinds)
