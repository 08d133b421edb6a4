"""The types of the contract: objects with members, and enumerations. The types of members are words such as `string`,
`[User]` (an array), `{Service}` (an object whose names are chosen by its writer) and `integer 1...500`; the README of the
folder Contract lists them."""
import re
import swift, texts

#: The words for types that are in no file: the type in Swift, and the schema.
WORDS = {
    "string": ("String", ".string()"), "secret": ("Secret", ".secret"), "boolean": ("Bool", ".boolean"),
    "number": ("Double", ".number"), "any": ("JSON", ".any"), "object": ("JSONObject", ".map(.any)"), "null": ("", ".null"),
    "cursor": ("String", ".cursor"), "storageKey": ("String", ".storageKey"), "jwt": ("Secret", ".jwt"),
    "url": ("String", ".url"),
}


def parsed(text):
    """The type in Swift and the schema of a type."""
    parts = re.split(r"\s*\|\s*(?![^\[{]*[\]}])", text.strip())
    if all(re.fullmatch(r'"[^"]*"', part) for part in parts):
        return "String", f".enumeration([{', '.join(parts)}])"
    if len(parts) > 1:
        types = list(map(parsed, parts))
        first = types[0][0] + "?" if parts[1:] == ["null"] else "JSON"
        return first, f".oneOf([{', '.join(schema for _, schema in types)}])"
    if match := re.fullmatch(r"integer(?: (-?\d+)\.\.\.(\w*))?", text):
        bounds = [f"{key}: {bound}" for key, bound in zip(("minimum", "maximum"), match.groups()) if bound]
        return "Int", f".integer({', '.join(bounds)})"
    if match := re.fullmatch(r"\[(.*)\]", text):
        inner = parsed(match[1])
        return f"[{inner[0]}]", f".array({inner[1]})"
    if match := re.fullmatch(r"\{(.*)\}(?: up to (\d+))?", text):
        inner = parsed(match[1])
        most = f", atMost: {match[2]}" if match[2] else ""
        return f"[String: {inner[0]}]", f".map({inner[1]}{most})"
    if text in WORDS:
        return WORDS[text]
    if re.fullmatch(r"[A-Z][\w.]*", text):
        return text, f"{text}.jsonSchema"
    raise ValueError(f"there is no type {text}")


class Member:
    """A member of an object.

    `type` ends in `?` when the member may be absent. `text` describes it in the document, `doc` in Swift; without `doc` both
    are the same. `swift` and `as` are its name and type in Swift where those differ. `default` is its default in the
    initialiser: nil for a member that may be absent, and none for all others; an empty one is none. `unless` is the value
    of a setting that is absent. A string may have a `pattern`, and is `called` that in error messages.
    """

    def __init__(self, key, data, common):
        data = {**common.get(key, {}), **data}
        swift.check_keys(f"the member {key}", data, "type text doc swift as default pattern called unless")
        if missing := [word for word in ("type", "text") if word not in data]:
            raise ValueError(f"the member {key} has no {' and no '.join(missing)}")
        self.key, self.text = key, data["text"]
        self.is_optional = data["type"].endswith("?")
        own, self.schema = parsed(data["type"].removesuffix("?"))
        form = [f"{word}: {swift.literal(data[word])}" for word in ("pattern", "called") if word in data]
        self.schema = f".string({', '.join(form)})" if form else self.schema
        self.unless = data.get("unless")
        self.type = data.get("as", own) + ("?" if self.is_optional and not self.unless else "")
        self.name = data.get("swift") or swift.camel(key)
        self.doc = data.get("doc") or self.text[:1].upper() + self.text[1:] + "."
        self.default = data.get("default", "nil" if self.type.endswith("?") else "")

    @property
    def is_patch(self):
        """Whether a null differs from an absent member."""
        return self.is_optional and ".null" in self.schema

    def declared(self, access, indent):
        return swift.document(self.doc, indent) + f"{' ' * indent}{access}var {swift.name(self.name)}: {self.type}\n"

    def described(self, indent):
        return swift.listed(self.start, [swift.literal(self.key), self.schema, swift.literal(self.text)], "),", indent)

    def as_property(self, indent):
        """The property of a type that writes its own text."""
        parts = [swift.literal(self.key), self.schema, swift.literal(self.text)]
        line = f"{' ' * indent}{self.start}{', '.join(parts)}) {{ $0.{self.name} }},\n"
        if len(line) <= swift.WIDTH + 1:
            return line
        head = swift.listed(self.start, parts, ")", indent)[:-1]
        pad = " " * indent
        if "\n" not in head and len(head) + 2 <= swift.WIDTH:
            return f"{head} {{\n{pad}  $0.{self.name}\n{pad}}},\n"
        return f"{head}\n{pad}{{ $0.{self.name} }},\n"

    @property
    def start(self):
        return ".optional(" if self.is_optional else ".required("


def names_types(data, common):
    """Whether the members of an object have types beside those of Swift and JSON."""
    names = {name for one in members(data.get("members", {}), common) for name in re.findall(r"[A-Z]\w*", one.type)}
    return bool(names - {"String", "Bool", "Double", "Int", "JSON", "JSONObject"})


def members(data, common):
    return [Member(key, one, common) for key, one in data.items()]


def described(data, common):
    """The members of an object that is in the clients."""
    all = members(data, common)
    for one in all:
        texts.check(f"the member {one.key}", one.text)
    return all


def schema(name, all, indent):
    """The schema of an object, named or not."""
    if name:
        inner = schema(None, all, indent + 2)
        return f"JSONSchema.named(\n{' ' * (indent + 2)}{swift.literal(name)},\n{' ' * (indent + 2)}{inner[10:]})"
    lines = [one.described(indent + 2) for one in all]
    line = lines[0].strip()[:-1] if len(lines) == 1 else "\n"
    if "\n" not in line and indent + len(line) + 51 <= swift.WIDTH:
        return f"JSONSchema.object([{line}])"
    if len(lines) == 1:
        lines = [lines[0].rstrip()[:-1] + "\n"]
    return f"JSONSchema.object([\n{''.join(lines)}{' ' * indent}])"


def struct(name, data, common, access="public ", indent=0, order=None, schema_text=None):
    """A structure with its members, and with the types and constants that it declares.

    `schema` is its name in the document, `conforms` are further protocols. One that conforms to `JSONObjectRepresentable`
    writes its text without a tree. `init` describes its initialiser; where it is
    false, a file by hand has one, or Swift's own does. `settings`, the default mode of renewals, makes the members the
    settings of a kind beside those that all kinds have; a method `check` by hand checks them.
    """
    pad = " " * (indent + 2)
    mode = data.get("settings")
    # Settings are in no client.
    all = members(data["members"], common) if mode else described(data["members"], common)
    access = "" if mode else access
    protocols = ", ".join(["RPCValue", *(["Hashable"] if mode else data.get("conforms", []))])
    yield swift.document(data["doc"], indent) + f"{' ' * indent}{access}struct {name}: {protocols} {{\n"
    for inner, one in data.get("types", {}).items():
        yield from declared(inner, one, common, access, indent + 2)
        yield "\n"
    yield "".join(one.declared(access, indent + 2) for one in all)
    yield f"{pad}/// The settings that all kinds have in common.\n{pad}var common: CommonSettings\n\n" if mode else "\n"
    for inner, one in data.get("constants", {}).items():
        yield swift.document(one["doc"], indent + 2) + f"{pad}{access}static let {inner} = {one['value']}\n\n"
    if mode or any(one.name != one.key for one in all):
        yield f"{pad}private enum CodingKeys: String, CodingKey {{\n"
        for one in all:
            value = f" = {swift.literal(one.key)}" if one.name != one.key else ""
            yield f"{pad}  case {swift.name(one.name)}{value}\n"
        yield f"{pad}}}\n\n"
    if mode:
        yield settings_decoder(all, mode, indent + 2) + "\n"
    elif data.get("init", True):
        yield initialiser(all, data.get("init", "Creates a value with these members."), access, indent + 2) + "\n"
    if any(one.is_patch for one in all):
        yield decoder(all, access, indent + 2) + "\n"
    if any(not one.is_optional and one.type.endswith("?") for one in all):
        yield encoder(all, access, indent + 2) + "\n"
    listed = sorted(all, key=order) if order else all
    text = schema_text or schema(data.get("schema"), listed, indent + 2)
    if "JSONObjectRepresentable" in data.get("conforms", []):
        lines = "".join(one.as_property(indent + 4) for one in all)
        yield f"{pad}{access}static let properties: [JSONProperty<{name}>] = [\n{lines}{pad}]\n\n"
        named = data.get("schema")
        text = f"JSONSchema.named({swift.literal(named)}, .object(properties))" if named else "JSONSchema.object(properties)"
    if mode:
        lines = "".join(one.described(indent + 6) for one in all)
        text = f"JSONSchema.object(\n{pad}  [\n{lines}{pad}  ] + CommonSettings.members)"
    yield f"{pad}{access}static let jsonSchema = {text}\n{' ' * indent}}}\n"


def initialiser(all, text, access, indent):
    pad = " " * indent
    parts = [f"{one.name}: {one.type}" + (f" = {one.default}" if one.default else "") for one in all]
    lines = [f"{pad}  self.{one.name} = {swift.name(one.name)}\n" for one in all]
    start = swift.listed(f"{access}init(", parts, ") {", indent)
    short = f"{start[:-1]} {lines[0].strip()} }}\n"
    is_short = len(lines) == 1 and len(short) <= swift.WIDTH + 1
    return swift.document(text, indent) + (short if is_short else start + "".join(lines) + f"{pad}}}\n")


def decoded(one):
    """The statement that decodes a member."""
    suffix = "IfPresent" if one.is_optional and not one.is_patch else ""
    unless = f" ?? {one.unless}" if one.unless else ""
    return f"{one.name} = try container.decode{suffix}({one.type.removesuffix('?')}.self, forKey: .{one.name}){unless}"


def settings_decoder(all, mode, indent):
    pad = " " * indent
    text = f"{pad}init(from decoder: any Decoder) throws {{\n"
    text += f"{pad}  let container = try decoder.container(keyedBy: CodingKeys.self)\n"
    text += "".join(f"{pad}  {decoded(one)}\n" for one in all)
    return text + f"{pad}  common = try CommonSettings(from: decoder, mode: .{mode})\n{pad}  try check()\n{pad}}}\n"


def encoder(all, access, indent):
    pad = " " * indent
    text = swift.document("Encodes the members. Not synthesized, because a null is encoded too.", indent)
    text += f"{pad}{access}func encode(to encoder: any Encoder) throws {{\n"
    text += f"{pad}  var container = encoder.container(keyedBy: CodingKeys.self)\n"
    for one in all:
        suffix = "IfPresent" if one.is_optional else ""
        text += f"{pad}  try container.encode{suffix}({one.name}, forKey: .{one.name})\n"
    return text + f"{pad}}}\n"


def decoder(all, access, indent):
    pad = " " * indent
    text = swift.document("Decodes the members. Not synthesized, because a null differs from an absent member.", indent)
    text += f"{pad}{access}init(from decoder: any Decoder) throws {{\n"
    text += f"{pad}  let container = try decoder.container(keyedBy: CodingKeys.self)\n"
    for one in all:
        line = decoded(one)
        text += f"{pad}  if container.contains(.{one.name}) {{ {line} }}\n" if one.is_patch else f"{pad}  {line}\n"
    return text + f"{pad}}}\n"


def enumeration(name, data, access="public ", indent=0):
    """An enumeration of words, with a sentence about each, or none where they are a list. If it is `ordered`, its first
    word is the least."""
    pad = " " * (indent + 2)
    if isinstance(data["cases"], list):
        yield swift.document(data["doc"], indent) + f"{' ' * indent}{access}enum {name}: String, RPCValue, CaseIterable {{\n"
        yield f"{pad}case {', '.join(data['cases'])}\n\n"
        yield f"{pad}{access}static let jsonSchema = JSONSchema.enumeration(allCases.map(\\.rawValue))\n{' ' * indent}}}\n"
        return
    protocols = ", ".join(["String", "Sendable", "Hashable", "Codable", "JSONTextRepresentable", *(["Comparable"] if data.get("ordered") else []),
                           "DescribedEnumeration"])
    yield swift.document(data["doc"], indent) + f"{' ' * indent}{access}enum {name}: {protocols} {{\n"
    for word, text in data["cases"].items():
        yield swift.document(text, indent + 2) + f"{pad}case {swift.name(word)}\n"
    yield f"\n{pad}{access}static let jsonSchema = schema(named: {swift.literal(data.get('schema', name))})\n\n"
    yield f"{pad}{access}var meaning: String {{\n"
    yield from swift.switch([(word, swift.literal(text)) for word, text in data["cases"].items()], indent + 4)
    yield f"{pad}}}\n"
    if data.get("ordered"):
        yield f"\n{pad}private var rank: Int {{ Self.allCases.firstIndex(of: self) ?? 0 }}\n\n"
        yield f"{pad}{access}static func < (one: {name}, other: {name}) -> Bool {{ one.rank < other.rank }}\n"
    yield f"{' ' * indent}}}\n"


def declared(name, data, common, access="public ", indent=0):
    swift.check_keys(f"the type {name}", data, "doc schema members types constants conforms init settings cases ordered")
    if "cases" in data:
        yield from enumeration(name, data, access, indent)
    else:
        yield from struct(name, data, common, access, indent)
