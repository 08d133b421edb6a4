"""The tables of kinds in the documents. What stands around them is written by hand. The tables of the vendors' own SDKs are the
end of their page."""
import swift

KEYS = "product signs_in_with renewed_by session_open endpoint request headers answer denial calls"
GUIDES = "Packaging/documentation/"
COUNTERPARTS = GUIDES + "phone-sdk.md"


def page(kind):
    return kind["name"].replace(".", "-") + ".md"


def named(kind):
    return f"`{kind['name']}`"


def own(*keys):
    """The cells of a row: the kind, and members of its data."""
    return lambda kind: [named(kind), *(kind["documents"][key] for key in keys)]


# The documents, and the first lines of their tables with the cells of a row.
TABLES = [
    ("README.md", "the vendor's SDK | kind, and its page | a user signs in with | sdkd gets a new token from", lambda kind: [
        kind["title"], f"[{named(kind)}]({GUIDES}vendors/{page(kind)})", kind["documents"]["signs_in_with"],
        kind["documents"]["renewed_by"]]),
    (GUIDES + "app-guide.md", "kind | `session.open` may", own("session_open")),
    (GUIDES + "kiosk.md", "kind | members of `endpoint` | request | headers of the token", own("endpoint", "request", "headers")),
    (GUIDES + "provider.md", "kind | answers to `getToken` and `invalidAuth`", own("answer")),
    (GUIDES + "provider.md", "kind | after a denial", own("denial")),
    (GUIDES + "vendors/README.md", "your product | kind | page", lambda kind: [
        kind["documents"]["product"], named(kind), f"[{page(kind)}]({page(kind)})"]),
    (GUIDES + "vendors/README.md", "kind | sign in | sign out", lambda kind: [named(kind), *kind["documents"]["calls"]]),
]


def replaced(path, text, head, rows):
    """The text with these rows in the table that begins with `head`."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.strip() == f"| {head} |"]
    if len(starts) != 1:
        raise ValueError(f"{path} must have one table that begins with: {head}")
    first = starts[0] + 2
    last = next(number for number in range(first, len(lines)) if not lines[number].strip().startswith("|"))
    indent = lines[starts[0]][:lines[starts[0]].index("|")]
    return "\n".join(lines[:first] + [f"{indent}| {' | '.join(row)} |" for row in rows] + lines[last:])


def code(words):
    return ", ".join(f"`{word}`" for word in words) or "–"


def counterparts(text, kinds):
    """The text of the page for users of the vendors' own SDKs, with a table for each."""
    start = text.find("\n## ")
    if start < 0:
        raise ValueError(f"{COUNTERPARTS} must have a heading for each kind")
    parts = [text[:start]]
    for kind in kinds:
        parts.append(f"## {kind['title']}\n\nThe kind {named(kind)}.\n")
        rows = [[code(one["names"]), code(one["methods"]), code(one.get("events", [])), one["difference"]]
                for one in kind["sdk_calls"]]
        lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows)
        head = "| in the SDK | here | events | what is different |\n|---|---|---|---|\n"
        parts.append(head + "".join(f"| {line} |\n" for line in lines))
    return "\n".join(parts)


def files(kinds, read):
    """The documents with their tables. `read` returns the text of one."""
    kinds = sorted(kinds, key=lambda kind: kind["place"])
    for kind in kinds:
        swift.check_keys(f"documents of {kind['name']}", kind["documents"], KEYS)
    texts = {path: read(path) for path, _, _ in TABLES}
    for path, head, cells in TABLES:
        texts[path] = replaced(path, texts[path], head, map(cells, kinds))
    texts[COUNTERPARTS] = counterparts(read(COUNTERPARTS), kinds)
    return texts.items()
