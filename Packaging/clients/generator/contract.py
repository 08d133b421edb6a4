"""The contract as types, methods, reasons and events, for any language."""
import json, re, textwrap
from dataclasses import dataclass, field
import texts

#: The reasons of errors of the clients themselves.
OWN_REASONS = [
    "noDaemon", "notPermitted", "untrustedServer", "connectionClosed", "outcomeUnknown", "timeout", "tooManyCalls",
    "badAnswer", "badLocation", "systemError", "clientClosed",
]
#: Methods that the clients call themselves.
OWN_METHODS = {"events.subscribe", "events.unsubscribe", "events.resume", "delegate.attach", "delegate.detach"}
#: Names that the clients add to the arguments of each method.
OWN_ARGUMENTS = {"deadline", "signal"}


@dataclass
class Field:
    name: str
    type: tuple
    required: bool
    text: str


@dataclass
class Method:
    name: str
    summary: str
    text: str
    is_read: bool
    required: list
    optional: list
    result: tuple


@dataclass
class Contract:
    #: Objects by name: their fields. Other named types: what they stand for. Both with their description.
    objects: dict = field(default_factory=dict)
    aliases: dict = field(default_factory=dict)
    methods: list = field(default_factory=list)
    reasons: list = field(default_factory=list)
    event_types: list = field(default_factory=list)
    questions: list = field(default_factory=list)
    #: The meanings of the words of an enumeration, by its name, in the order of the words.
    meanings: dict = field(default_factory=dict)
    #: The sentences for people by name: their texts by language, and the reasons that have them.
    sentences: dict = field(default_factory=dict)
    sentence_of: dict = field(default_factory=dict)
    #: The sentence of reasons that are not known.
    general_sentence: str = ""


def wrap(text, width, **options):
    """The lines of a text. No word is alone on the last one, if a smaller width avoids that."""
    for less in range(30):
        lines = textwrap.wrap(text, width - less, **options)
        if len(lines) < 2 or len(lines[-1].split()) > 1:
            return lines
    return textwrap.wrap(text, width, **options)


def flowing(text):
    """A text whose paragraphs and items are one line each."""
    return re.sub(r"(?<!\n)\n(?!\n|- )", " ", text)


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


class Reader:
    def __init__(self, document):
        self.document = document
        self.contract = Contract()
        self.schemas = document["components"]["schemas"]

    def read(self):
        contract = self.contract
        for name, schema in self.schemas.items():
            self.define(name, schema)
        for method in self.document["methods"]:
            if method["name"] not in OWN_METHODS:
                contract.methods.append(self.method(method))
        answers = []
        for request in self.document["x-requests"]:
            contract.questions.append(request["name"])
            answers.append(self.type(request["result"], pascal(request["name"].split(".")[-1]) + "Answer"))
        contract.aliases["Answer"] = (self.union(answers), "An answer of a delegate to a question.")
        contract.objects["Gap"] = (
            [Field("type", ("literal", ["gap"]), True, ""), Field("cursor", ("string",), True, ""),
             Field("from", ("string",), False, "")],
            "Events after the cursor `from` were missed: read the state again. Events continue after `cursor`.")
        contract.aliases["Item"] = (
            ("union", [("ref", "Event"), ("ref", "Gap")]),
            "An item of the events: an event, or a gap. Compare `type` to tell them apart.")
        contract.event_types = self.event_types()
        reasons = self.reasons()
        self.prune()
        self.judge()
        contract.reasons = sorted(set(reasons) | set(OWN_REASONS)) if reasons else []
        for sentence in self.document["x-sentences"]:
            contract.sentences[sentence["name"]] = sentence["texts"]
            if sentence["isGeneral"]:
                contract.general_sentence = sentence["name"]
            contract.sentence_of |= {reason: sentence["name"] for reason in sentence["reasons"] if reason in contract.reasons}
        if missing := set(contract.reasons) - contract.sentence_of.keys():
            raise SystemExit(f"make-clients: these reasons have no sentence for people: {', '.join(sorted(missing))}")
        return contract

    def prune(self):
        """Keeps the types that methods, events and questions lead to; each comes after those that it refers to."""
        contract, order = self.contract, {}

        def visit(kind):
            if kind[0] in ("array", "map"):
                visit(kind[1])
            elif kind[0] == "union":
                for one in kind[1]:
                    visit(one)
            elif kind[0] == "ref" and kind[1] not in order:
                name = kind[1]
                order[name] = None
                for one in contract.objects[name][0] if name in contract.objects else ():
                    visit(one.type)
                if name in contract.aliases:
                    visit(contract.aliases[name][0])
                order[name] = order.pop(name)

        for method in contract.methods:
            for one in method.required + method.optional:
                visit(one.type)
            visit(method.result)
        for name in ("DelegateQuestion", "Item", "Answer"):
            visit(("ref", name))
        contract.objects = {name: contract.objects[name] for name in order if name in contract.objects}
        contract.aliases = {name: contract.aliases[name] for name in order if name in contract.aliases}

    def judge(self):
        """Fails for a description that is no comment, such as one of a schema that make-contract does not make."""
        fields = [(name, one) for name, (members, _) in self.contract.objects.items() for one in members]
        fields += [(method.name, one) for method in self.contract.methods for one in method.required + method.optional]
        for owner, one in fields:
            if one.text:
                try:
                    texts.check(f"{owner}.{one.name}", one.text)
                except ValueError as error:
                    raise SystemExit(f"make-clients: {error}")

    # Types: ("ref", name) · ("literal", [values]) · ("string",) ("secret",) … ("any",) · ("array", type) · ("map", type) · ("union", [types])

    def type(self, schema, name):
        """The type of a schema; an object becomes a type of this name."""
        if not isinstance(schema, dict) or not set(schema) - {"description", "title", "default", "examples"}:
            return ("any",)
        if "$ref" in schema:
            target = schema["$ref"].rsplit("/", 1)[-1]
            found = self.schemas[target]
            is_empty = found.get("type") == "object" and not found.get("properties") and "additionalProperties" in found
            return ("empty",) if is_empty and found["additionalProperties"] is False else ("ref", target)
        if "const" in schema:
            return ("literal", [schema["const"]])
        if "enum" in schema:
            return ("literal", list(schema["enum"]))
        if len(schema.get("allOf", [])) == 1:
            return self.type(schema["allOf"][0], name)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                members = schema[key]
                formats = {member.get("format", "") for member in members}
                if any(text.startswith("duration") for text in formats):
                    return ("duration",)
                named = [pascal(name + str(number + 1)) for number in range(len(members))]
                if sum("properties" in member for member in members) == 1:
                    named = [name] * len(members)
                return self.union([self.type(member, title) for member, title in zip(members, named)])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self.union([self.type({**schema, "type": one}, name) for one in kind])
        if kind == "object":
            return self.object(schema, name)
        if kind == "array":
            return ("array", self.type(schema.get("items", {}), name + "Item"))
        if schema.get("format") == "password":
            return ("secret",)
        if kind in ("string", "number", "integer", "boolean", "null"):
            return (kind,)
        raise SystemExit(f"make-clients: {name} has a schema that is not understood: {json.dumps(schema)[:200]}")

    def object(self, schema, name):
        properties = schema.get("properties", {})
        if not properties:
            more = schema.get("additionalProperties", {})
            return ("empty",) if more is False else ("map", self.type(more, name + "Value"))
        self.define(name, schema)
        return ("ref", name)

    def define(self, name, schema):
        text = schema.get("description", "")
        if schema.get("type") != "object" or "properties" not in schema:
            self.contract.aliases[name] = (self.type(schema, name + "Value"), text)
            self.contract.meanings[name] = schema.get("x-enum-descriptions", [])
            return
        required = schema.get("required", [])
        fields = [
            Field(member, self.type(inner, name + pascal(member)), member in required, inner.get("description", ""))
            for member, inner in schema["properties"].items()
        ]
        if self.contract.objects.get(name, (fields, ""))[0] != fields:
            raise SystemExit(f"make-clients: two different types are named {name}")
        self.contract.objects[name] = (fields, text)

    def union(self, types):
        """Flattens; literals become one; no type occurs twice."""
        flat, literals = [], []
        for one in types:
            for part in one[1] if one[0] == "union" else [one]:
                if part[0] == "literal":
                    literals += [value for value in part[1] if value not in literals]
                elif part not in flat:
                    flat.append(part)
        flat = ([("literal", literals)] if literals else []) + flat
        return flat[0] if len(flat) == 1 else ("union", flat)

    # Methods, events, reasons

    def method(self, method):
        name = pascal(method["name"])
        required, optional = [], []
        for param in method["params"]:
            if param["name"] in OWN_ARGUMENTS:
                raise SystemExit(f"make-clients: {method['name']} has a param {param['name']}, which the clients use")
            kind = self.type(param["schema"], name + pascal(param["name"]))
            is_required = bool(param.get("required"))
            part = Field(param["name"], kind, is_required, flowing(param.get("description", "")))
            (required if is_required else optional).append(part)
        return Method(
            method["name"], method["summary"], flowing(method.get("description", "")),
            method["x-sdkd"]["ordering"] in ("read", "free"), required, optional,
            self.type(method["result"]["schema"], name + "Result"))

    def literals(self, schema):
        """The values that a schema allows, through references and alternatives."""
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[-1]]
        if "const" in schema:
            return [schema["const"]]
        found = list(schema.get("enum", []))
        for key in ("oneOf", "anyOf", "allOf"):
            for member in schema.get(key, []):
                found += self.literals(member)
        return found

    def event_types(self):
        schema, found = self.schemas["Event"], []
        for member in schema.get("oneOf", schema.get("anyOf", [schema])):
            while "$ref" in member:
                member = self.schemas[member["$ref"].rsplit("/", 1)[-1]]
            found += self.literals(member["properties"]["type"])
        return found

    def reasons(self):
        """All reasons of the errors that methods declare, also through references."""
        found = []

        def search(value):
            if isinstance(value, list):
                for member in value:
                    search(member)
            elif isinstance(value, dict):
                reference = value.get("$ref", "")
                if reference.startswith("#/components/errors/"):
                    return search(self.document["components"]["errors"][reference.rsplit("/", 1)[-1]])
                reason = value.get("reason", value.get("x-reason"))
                if isinstance(reason, str):
                    found.append(reason)
                elif isinstance(reason, dict):
                    found.extend(self.literals(reason))
                for member in value.values():
                    search(member)

        search([method.get("errors", []) for method in self.document["methods"]])
        search(self.document["components"].get("errors", {}))
        if "Reason" in self.schemas:
            found += self.literals(self.schemas["Reason"])
        return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return Reader(json.load(file)).read()
