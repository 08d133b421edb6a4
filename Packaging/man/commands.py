"""The verbs of sdkctl as Markdown, from what the program tells of itself."""
import json

GLOBAL = "Global options"


def markdown(text):
    """All verbs, each as a section, and the options that all have."""
    root = json.loads(text)["command"]
    verbs = [verb for verb in root["subcommands"] if verb.get("shouldDisplay", True) and verb["commandName"] != "help"]
    common = next(
        [argument for argument in verb["arguments"] if argument.get("sectionTitle") == GLOBAL] for verb in verbs)
    parts = ["# OPTIONS", "All verbs have these, before or behind the verb:", definitions(common), "# VERBS"]
    for verb in verbs:
        parts += section(["sdkctl"], verb)
    return "\n\n".join(parts)


def section(path, command):
    path = path + [command["commandName"]]
    inner = [part for part in command.get("subcommands", []) if part.get("shouldDisplay", True)]
    inner = [part for part in inner if part["commandName"] != "help"]
    if inner:
        parts = [f"## {' '.join(path)}", command.get("abstract", "")]
        parts += [prose(command["discussion"])] if command.get("discussion") else []
        return parts + [part for command in inner for part in section(path, command)]
    own = [argument for argument in command["arguments"] if argument.get("sectionTitle") != GLOBAL]
    own = [argument for argument in own if argument.get("shouldDisplay", True) and not is_help(argument)]
    synopsis = [f"**{' '.join(path)}**"] + [usage(argument) for argument in own]
    parts = [f"## {' '.join(path)}", " ".join(synopsis), prose(command.get("abstract", ""))]
    paragraphs = command.get("discussion", "").split("\n\n")
    listings = [paragraph for paragraph in paragraphs if is_listing(paragraph)]
    parts += [prose(paragraph) for paragraph in paragraphs if paragraph and paragraph not in listings]
    if own:
        parts.append(definitions(own))
    return parts + [prose(paragraph) for paragraph in listings]


def is_listing(paragraph):
    """Whether it is a heading and indented lines, which stay as they are."""
    return ":\n  " in paragraph


def is_help(argument):
    return any(name["name"] in ("help", "version") for name in argument.get("names", []))


def dashed(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def value(argument):
    return f"*{escaped(argument['valueName'].upper())}*"


def usage(argument):
    if argument["kind"] == "positional":
        word = value(argument)
        if argument.get("parsingStrategy") == "postTerminator":
            word = "**--** " + word
    else:
        word = f"**{dashed(argument['preferredName'])}**"
        if argument["kind"] == "option":
            word += " " + value(argument)
    word += "…" if argument.get("isRepeating") else ""
    return f"\\[{word}\\]" if argument.get("isOptional") else word


def definitions(arguments):
    """A list of arguments: what each is called and what it does."""
    order = ["positional", "option", "flag"]
    parts = []
    for argument in sorted(arguments, key=lambda argument: order.index(argument["kind"])):
        if argument["kind"] == "positional":
            term = value(argument)
        else:
            names = sorted(argument["names"], key=lambda name: name["kind"] != "short")
            term = ", ".join(f"**{dashed(name)}**" for name in names)
            if argument["kind"] == "option":
                term += " " + value(argument)
        said = prose(argument.get("abstract", ""))
        choices = argument.get("allValues")
        if choices:
            said += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
        if argument.get("defaultValue"):
            said += f" Unless given: `{argument['defaultValue']}`."
        parts.append(f"{term}\n\n: {said.strip()}")
    return "\n\n".join(parts)


def prose(text):
    return "\n\n".join(paragraph_of(paragraph) for paragraph in text.split("\n\n"))


def paragraph_of(paragraph):
    """A paragraph; the lines of a listing stay."""
    if is_listing(paragraph):
        heading, lines = paragraph.split("\n", 1)
        return f"{escaped(heading)}\n\n```\n{lines}\n```"
    return escaped(paragraph.replace("\n", " "))


def escaped(text):
    """Text in which nothing is markup."""
    return "".join("\\" + character if character in "\\`*_{}[]<>#|" else character for character in text)
