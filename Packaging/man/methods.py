"""The methods of the protocol as Markdown, from the OpenRPC document."""
import json
import re

ROLES = {"anyone": "anyone who can connect", "admin": "admin", "create": "a create rule, or admin"}


def markdown(text):
    """All methods, then what the daemon sends, then the shapes that have names."""
    document = json.loads(text)
    parts = ["# METHODS"]
    for method in document["methods"]:
        parts += one_method(method)
    parts += ["# NOTIFICATIONS", "The daemon sends these to a connection that has subscribed."]
    for notification in document["x-notifications"]:
        parts += [f"## {notification['name']}", said(notification), members(notification["params"])]
    parts += ["# REQUESTS", "The daemon asks these of a connection that has attached itself as a delegate."]
    for request in document["x-requests"]:
        parts += [f"## {request['name']}", said(request), "Params: " + shape(request["params"]) + "."]
        parts += ["Result:", members(request["result"])]
    parts += ["# SHAPES"]
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += [f"## {name}", members(schema)]
    return "\n\n".join(part for part in parts if part)


def one_method(method):
    extra = method["x-sdkd"]
    about = [f"Role: {ROLES.get(extra['role'], extra['role'])}", f"order: {extra['ordering']}"]
    if "kind" in extra:
        about.append(f"kind: `{extra['kind']}`")
    parts = [f"## {method['name']}", said(method), "; ".join(about) + "."]
    if method["params"]:
        parts += ["Params:", listed([
            (param["name"], param["schema"], param["description"], param["required"]) for param in method["params"]])]
    result = method["result"]["schema"]
    if result.get("properties"):
        parts += ["Result:", members(result)]
    else:
        parts.append(f"Result: {shape(result)}." if result.get("$ref") or result.get("oneOf") else "Result: `{}`.")
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
    required = schema.get("required", [])
    pairs = schema.get("properties", {}).items()
    if not pairs:
        return shape(schema).capitalize() + "."
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
