"""The methods of the daemon, its notifications, and its requests to delegates."""
import json, re
import shapes, swift

KEYS = """doc summary text message access ordering concern kind errors shared_errors commands needs_state takes_large_frames
    plain params result writes_text types constants example"""
PROTOCOLS = {"method": "SDKMethod", "notification": "RPCNotification", "request": "DelegateRequest"}
#: The types of params that a plain reader knows. The last two are texts that may be invalid.
PLAIN = ("String", "Bool", "Seconds", "InstanceID", "Timestamp")
ORDERINGS = {"free": ".free", "read": ".read", "write": ".write(waits: false)", "write after writes": ".write(waits: true)"}


def value(found, indent):
    """A value of JSON as a literal. A text that begins with `$` names a value of `MethodExample`."""
    if isinstance(found, str):
        return f"MethodExample.{found[1:]}" if found.startswith("$") else swift.literal(found)
    if not isinstance(found, (dict, list)):
        return "nil" if found is None else json.dumps(found)
    items = found.items() if isinstance(found, dict) else [(None, one) for one in found]

    def parts(indent):
        for key, one in items:
            text = value(one, indent)
            # A text that is too long for a line begins a line of its own.
            gap = f"\n{' ' * (indent + 2)}" if isinstance(one, str) and indent and len(text) + len(key or "") > swift.WIDTH else " "
            yield text if key is None else f"{swift.literal(key)}:{gap}{text}"

    flat = "[" + (", ".join(parts(0)) or (":" if isinstance(found, dict) else "")) + "]"
    if "\n" not in flat and indent + len(flat) <= swift.WIDTH - 20:
        return flat
    lines = [f"{' ' * (indent + 2)}{part}" for part in parts(indent + 2)]
    comma = "," if len(lines) > 1 else ""
    return "[\n" + ",\n".join(lines) + f"{comma}\n{' ' * indent}]"


def example(data):
    parts = []
    if "params" in data:
        parts.append(value(json.loads(data["params"]), 4))
    if "result" in data:
        parts.append("result: " + value(json.loads(data["result"]), 4))
    return swift.listed("public static let example = MethodExample(", parts, ")", 2)


def error(one):
    if isinstance(one, str):
        return swift.case(one)
    return swift.listed("DeclaredError(", declared(one["name"], one, 6), "),", 4).strip()[:-1]


def declared(name, one, indent=4):
    """The arguments of a declared error."""
    return [swift.literal(name), swift.case(one["origin"]), swift.array([*map(swift.case, one["reasons"])], indent)]


def errors(names):
    groups = [f"DeclaredError.{one}" for one in names if isinstance(one, str) and one.startswith("of")]
    rest = [error(one) for one in names if not isinstance(one, str) or not one.startswith("of")]
    start = "public static let errors: [DeclaredError] = "
    if not groups:
        return swift.listed(start + "[", rest, "]", 2)
    line = f"  {start}{' + '.join(groups)}"
    if not rest:
        return line + "\n"
    short = f"{line} + [{', '.join(rest)}]\n"
    return short if len(short) <= swift.WIDTH else f"  {start.strip()}\n    " + swift.listed(
        f"{' + '.join(groups)} + [", rest, "]", 4).strip() + "\n"


def command(one):
    parts = [f"verb: {swift.literal(one['verb'])}"] + ([f"input: .{one['input']}"] if "input" in one else [])
    parts += [f"member: {swift.literal(one['member'])}"] if "member" in one else []
    parts += [f"fixed: {value(json.loads(one['params']), 6)}"] if "params" in one else []
    return f"CommandUse({', '.join(parts)})"


def declarations(name, data):
    yield f"  public static let name = {swift.literal(name)}\n"
    line = f"  public static let summary = {swift.literal(data['summary'])}\n"
    yield line if len(line) <= swift.WIDTH + 1 else line.replace(" = ", " =\n    ", 1)
    if "text" in data:
        body = data["text"].strip("\n").replace("\\", "\\\\").replace("\n", "\n    ")
        yield f'  public static let documentation = """\n    {body}\n    """\n'
    if data.get("message") == "request":
        yield example(data["example"])
    if data.get("message"):
        return
    access = data["access"] if data["access"] in ("anyone", "creator") else f"role(.{data['access']})"
    yield f"  public static let access = MethodAccess.{access}\n"
    yield f"  public static let ordering = MethodOrdering{ORDERINGS[data['ordering']]}\n"
    if "concern" in data:
        yield f"  public static let concern = MethodConcern.{data['concern']}\n"
    if "kind" in data:
        yield f"  public static let kind: KindName? = .{data['kind']}\n"
    if "errors" in data:
        yield errors(data["errors"])
    for key, word in (("needs_state", "needsState"), ("takes_large_frames", "takesLargeFrames")):
        if key in data:
            yield f"  public static let {word} = {'true' if data[key] else 'false'}\n"
    yield example(data["example"])
    if "commands" in data:
        yield swift.listed("public static let commands = [", [*map(command, data["commands"])], "]", 2)


def part(title, given, name, common, data):
    """The params or the result: an alias of a type, or a type of their own."""
    if title == "Params" and list(given) == ["instance"] and given["instance"] == {}:
        given = "OneInstance"
    if isinstance(given, str) or not given:
        yield f"  public typealias {title} = {given or 'Empty'}\n"
        return
    words = "params" if title == "Params" else "a result"
    spec = {"members": given, "doc": f"The {title.lower()} of `{name}`.", "init": f"Creates {words} with these members."}
    if title == "Result" and data.get("writes_text"):
        spec["conforms"] = ["JSONObjectRepresentable"]
    if "kind" in data:
        spec.update({"init": False} | ({"conforms": ["InstanceParams"]} if title == "Params" else {}))
    # The document lists the required params of a method first.
    order = (lambda one: one.is_optional) if title == "Params" and "message" not in data else None
    yield from shapes.struct(title, spec, common, indent=2, order=order)


def plain(data, all):
    """A reader of params that uses neither their schema nor a decoder. It compares names in the order of `plain`."""
    read = [one for key in data["plain"] for one in all if one.key == key]
    for one in read:
        if one.type.removesuffix("?") not in PLAIN:
            raise ValueError(f"plain reads {', '.join(PLAIN)}, and {one.key} is {one.type}")
    needed = [one for one in read if not one.is_optional]
    free = [one for one in read if one.is_optional]
    listing = [f"`{one.key}`" for one in read]
    yield swift.document(
        f"Reads params that have no members but {', '.join(listing[:-1])} and {listing[-1]}, the times as numbers, without "
        "using their schema. Returns `nil` for all other params: invalid ones, and rare forms that only decoding accepts.", 2)
    yield "  public init?(plain params: JSON) {\n    guard case .object(let object) = params else { return nil }\n"
    for one in needed:
        yield f"    var {one.name}: {one.type}?\n"
    yield f"    var ({', '.join(one.name for one in free)}): ({', '.join(one.type for one in free)})\n"
    yield "    for member in object.members {\n      switch member.key {\n"
    for one in read:
        kind = one.type.removesuffix("?")
        yield f'      case "{one.key}":\n'
        if kind == "Seconds":
            yield "        guard case .number(let number) = member.value, let seconds = number.double.flatMap({ Seconds($0) })\n"
            yield f"        else {{ return nil }}\n        {one.name} = seconds\n"
        elif kind == "Bool":
            yield "        guard case .bool(let value) = member.value else { return nil }\n"
            yield f"        {one.name} = value\n"
        elif kind == "String":
            yield "        guard case .string(let text) = member.value else { return nil }\n"
            yield f"        {one.name} = text\n"
        else:
            yield f"        guard case .string(let text) = member.value, let value = {kind}(text) else {{ return nil }}\n"
            yield f"        {one.name} = value\n"
    yield "      // An unknown member, or one of which only the general path knows the form.\n"
    yield "      default: return nil\n      }\n    }\n"
    yield f"    guard {', '.join(f'let {one.name}' for one in needed)} else {{ return nil }}\n"
    arguments = [f"{one.name}: {one.name}" for one in all if one in read]
    yield swift.listed("self.init(", arguments, ")", 4) + "  }\n"


def method(source, name, data, common):
    swift.check_keys("it", data, KEYS)
    kind, types = data.get("kind"), data.get("types", {})
    body = ["".join(declarations(name, data))]
    body += [swift.document(one["doc"], 2) + f"  public static let {inner} = {one['value']}\n"
             for inner, one in data.get("constants", {}).items()]
    body += ["".join(shapes.declared(inner, one, common, indent=2)) for inner, one in types.items()]
    parts = ["Params"] if data.get("message") == "notification" else ["Params", "Result"]
    lines = ["".join(part(title, data.get(title.lower(), {}), name, common, data)) for title in parts if title not in types]
    aliases = [line for line in lines if line.startswith("  public typealias")]
    body += [line for line in lines if line not in aliases] + (["".join(aliases)] if aliases else [])
    # An import is public where the declarations use the module.
    text = "\n".join(body)
    public = "public " if re.search(r"RPCValue|typealias \w+ = (JSON|Empty)\b", text) or data.get("message") == "notification" else ""
    imports = [f"{public}import JSONRPC"]
    if kind:
        imports += [("public " if "InstanceParams" in text else "") + "import SDKInstances", "public import SDKProtocol"]
    yield swift.head(source, *imports)
    yield swift.document(f"`{name}`: {data['doc']}")
    protocol = PROTOCOLS[data.get("message", "method")]
    yield f"public enum {swift.pascal(name)}: {protocol} {{\n{text}}}\n"
    if "shared_errors" in data:
        yield "\nextension DeclaredError {\n"
        for inner, one in data["shared_errors"].items():
            yield swift.document(one["doc"], 2)
            yield swift.listed(f"static let {inner} = DeclaredError(", declared(inner, one), ")", 2)
        yield "}\n"
    if "plain" in data:
        yield f"\nextension {swift.pascal(name)}.Params: PlainParams {{\n"
        yield from plain(data, shapes.members(data["params"], common))
        yield "}\n"


def common(names):
    """The list of the methods that every kind has."""
    yield swift.head("the files in Contract/SDKProtocol")
    yield "extension CommonMethods {\n"
    yield "  /// The methods that every kind has. Tests ensure that each has a unique name, a handler, a role and documentation.\n"
    parts = [f"{swift.pascal(name)}.self" for name in sorted(names)]
    yield swift.listed("public static let all: [any SDKMethod.Type] = [", parts, "]", 2) + "}\n"
