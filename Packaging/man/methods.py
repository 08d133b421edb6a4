"""The methods of the protocol as Markdown, from the OpenRPC document."""
import json
import re

ROLES = {"anyone": "anyone who can connect", "admin": "admin", "create": "a create rule, or admin"}


def markdown(text):
    """All methods, then what the daemon sends, then the errors and the shapes that have names."""
    document = json.loads(text)
    components = document["components"]
    schemas = components["schemas"]
    parts = ["# METHODS"]
    for method in document["methods"]:
        parts += one_method(method, components)
    parts += ["# NOTIFICATIONS", "The daemon sends these to a connection that has subscribed."]
    for notification in document["x-notifications"]:
        parts += [f"## {notification['name']}", said(notification), members(own(notification["params"], schemas))]
    parts += ["# REQUESTS", "The daemon asks these of a connection that has attached itself as a delegate."]
    for request in document["x-requests"]:
        parts += [f"## {request['name']}", said(request), "Params: " + shape(request["params"]) + "."]
        parts += ["Result:", members(own(request["result"], schemas))]
    parts += ["# EVENTS"]
    parts += events(schemas)
    parts += ["# REASONS", "The reasons of errors, and of events that tell of one."]
    parts += [members(schemas["ProtocolReason"]), members(schemas["Reason"])]
    parts += ["# SHAPES"]
    for name, schema in sorted(schemas.items()):
        if not name.endswith(("Result", "Params", "Reason", "Event")) and name not in shown_with_events(schemas):
            parts += [f"## {name}", members(schema)]
    return "\n\n".join(part for part in parts if part)


def own(schema, schemas):
    """A schema in place of a reference to it."""
    return schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def one_method(method, components):
    extra = method["x-sdkd"]
    about = [f"Role: {ROLES.get(extra['role'], extra['role'])}", f"order: {extra['ordering']}"]
    if "kind" in extra:
        about.append(f"kind: `{extra['kind']}`")
    parts = [f"## {method['name']}", said(method), "; ".join(about) + "."]
    if method["params"]:
        parts += ["Params:", listed([
            (param["name"], param["schema"], param["description"], param["required"]) for param in method["params"]])]
    result = method["result"]["schema"]
    whole = own(result, components["schemas"])
    if whole.get("properties") and result["$ref"].endswith("Result"):
        parts += ["Result:", members(whole)]
    elif whole.get("properties"):
        parts.append(f"Result: {shape(result)}.")
    else:
        parts.append(f"Result: {shape(whole)}." if whole.get("oneOf") else "Result: `{}`.")
    return parts + errors(method, components["errors"])


def errors(method, known):
    """The reasons of a method's own errors."""
    reasons = []
    for reference in method["errors"]:
        reasons += known[reference["$ref"].rsplit("/", 1)[1]]["data"]["allOf"][1]["properties"]["reason"]["enum"]
    # A reason may come with two codes.
    return ["Errors: " + ", ".join(f"`{reason}`" for reason in dict.fromkeys(reasons)) + "."] if reasons else []


def shown_with_events(schemas):
    """The names of the shapes that the chapter about events shows."""
    shapes = [own(each, schemas)["properties"]["data"]["allOf"][0] for each in schemas["Event"]["oneOf"]]
    return {each["$ref"].rsplit("/", 1)[1] for each in shapes} | {"EventType"}


def events(schemas):
    """What all events have, and the data of each type."""
    shapes = [own(each, schemas) for each in schemas["Event"]["oneOf"]]
    common = dict(shapes[0]["properties"], type={"type": "string", "description": "what happened, as below"})
    common["data"] = {"type": "object", "description": "more about it, by type, as below"}
    parts = ["Members of every event:", members(dict(shapes[0], properties=common))]
    for each in shapes:
        kind = each["properties"]["type"]
        data = own(each["properties"]["data"]["allOf"][0], schemas)
        parts += [f"## {kind['const']}", plain(kind["description"])]
        if data.get("properties"):
            parts += ["Data:", members(data)]
    return parts


def said(described):
    text = described.get("description", "").replace("\n", " ")
    return plain(described["summary"] + (" " + text if text else ""))


def plain(text):
    """Text whose only markup is code between backticks."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<>\[\]\\])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def members(schema):
    if "x-enum-descriptions" in schema:
        pairs = zip(schema["enum"], schema["x-enum-descriptions"])
        return "\n\n".join(f"`{value}`\n\n: {plain(description)}" for value, description in pairs)
    required = schema.get("required", [])
    pairs = schema.get("properties", {}).items()
    if not pairs:
        said_of_it = schema.get("description")
        return shape(schema).capitalize() + (": " + plain(said_of_it) if said_of_it else "") + "."
    return listed([(name, value, value.get("description", ""), name in required) for name, value in pairs])


def listed(rows):
    parts = []
    for name, schema, description, required in rows:
        need = "" if required else ", may be left out"
        parts.append(f"`{name}` ({shape(schema)}{need})\n\n: {plain(description) or '–'}")
    return "\n\n".join(parts)


def shape(schema):
    """A schema in a few words."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "allOf" in schema:
        return shape(schema["allOf"][0])
    if "oneOf" in schema:
        return " or ".join(shape(one) for one in schema["oneOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return "list of " + shape(schema["items"])
    if kind == "object":
        names = schema.get("properties")
        return "object with " + ", ".join(f"`{name}`" for name in names) if names else "object"
    if schema.get("format") == "date-time":
        return "time"
    words = {"integer": "whole number", "string": "text", "null": "`null`"}
    return words.get(kind, kind or "anything")
