"""The keys of the configuration as Markdown, from what sdkd tells of itself."""
import json

import methods


def markdown(settings, openrpc):
    """The tables of sdkd.toml, the keys of an instance's file, and the settings of each kind."""
    document = resolved(json.loads(settings))
    shapes = document["components"]["schemas"]
    parts = ["# TABLES OF sdkd.toml"]
    for table in document["tables"]:
        parts += [f"## \\[{table['name']}\\]", methods.plain(table["summary"])]
        parts += [one_key(key) for key in table["keys"]]
    parts += ["# KEYS OF AN INSTANCE'S FILE", methods.members(document["instance"])]
    for name, table in (("Provider", "provider"), ("Access", "access")):
        parts += [f"## \\[{table}\\]", methods.members(shapes[name])]
    parts += ["# SETTINGS OF THE KINDS", "What `[settings]` of an instance's file, and `settings` in the protocol, hold."]
    discovered = resolved(json.loads(openrpc))
    for kind in discovered["x-kinds"]:
        parts += [f"## {kind['name']}", methods.members(kind["settings"])]
    return "\n\n".join(parts)


def resolved(document):
    """The document with the shapes of single values in place of references to them: the page has no chapter of shapes."""
    shapes = document["components"]["schemas"]

    def inside(value):
        if isinstance(value, list):
            return [inside(each) for each in value]
        if not isinstance(value, dict):
            return value
        target = shapes.get(value.get("$ref", "").rsplit("/", 1)[-1], {"properties": {}})
        if not {"properties", "discriminator"} & set(target):
            return inside(target)
        return {name: inside(each) for name, each in value.items()}

    return inside(document)


def one_key(key):
    sample = " ".join(key.get("default", key.get("example", "")).split("\n"))
    said = f"Unless given: `{sample}`." if "default" in key else f"For example: `{sample}`."
    return f"`{key['name']}` ({methods.shape(key['schema'])})\n\n: {methods.plain(key['summary'])} {said}"
