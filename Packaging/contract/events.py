"""The types of events, and the shapes of their details."""
import shapes, swift

SOURCE = "Contract/events.toml"


def event_type(data):
    yield swift.head(SOURCE, "public import JSONRPC")
    yield from shapes.enumeration(
        "EventType", {"doc": "The type of an event (sdkd-protocol(7)).",
                      "cases": {name: one["meaning"] for name, one in data["events"].items()}})


def event(data, common):
    yield swift.head(SOURCE, "public import JSONRPC")
    schema = 'JSONSchema.named(\n    "Event", .oneOf(EventType.allCases.map(\\.eventSchema), discriminator: "type"))'
    yield from shapes.struct("Event", data["event"], common, schema_text=schema)


def event_data(data, common):
    yield swift.head(SOURCE, "public import JSONRPC")
    yield "/// The JSON schemas of events: one for each type, since the data depends on the type.\nextension EventType {\n"
    yield "  /// The JSON schema of an event of this type.\n  var eventSchema: JSONSchema {\n    .named(\n"
    yield '      "\\(typeName)Event",\n      .object([\n'
    for one in shapes.members(data["event"]["members"], common):
        if one.key == "type":
            yield '        .required("type", .constant(rawValue), meaning),\n'
        else:
            one.schema = "dataSchema" if one.key == "data" else one.schema
            yield one.described(8)
    yield "      ]))\n  }\n\n  /// The JSON schema of the member `data` of events of this type.\n"
    yield "  private var dataSchema: JSONSchema {\n    switch self {\n"
    groups = {}
    for name, one in data["events"].items():
        details = one.get("data", {})
        groups.setdefault(details if isinstance(details, str) else name if details else "", []).append(name)
    for shared, names in groups.items():
        yield swift.pattern(names, 4)
        if not shared:
            yield "      .empty\n"
            continue
        all = shapes.described(data["details"].get(shared) or data["events"][shared]["data"], common)
        yield f"      .named(\n        {swift.literal(shared if shared in data['details'] else swift.pascal(shared) + 'Data')},\n"
        yield f"        {shapes.schema(None, all, 8)[10:]})\n"
    yield "    }\n  }\n\n  /// The type's name with a capital first letter, for the names of schemas.\n"
    yield "  private var typeName: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }\n}\n"
    for name, one in data["words"].items():
        yield "\n"
        yield from shapes.enumeration(name, one)


def files(data, common):
    for name, one in data["events"].items():
        swift.check_keys(f"the event {name}", one, "meaning data")
    folder = "Sources/SDKProtocol/Events"
    yield f"{folder}/EventType.swift", event_type(data)
    yield f"{folder}/Event.swift", event(data, common)
    yield f"{folder}/EventData.swift", event_data(data, common)
