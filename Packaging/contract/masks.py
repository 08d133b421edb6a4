"""The names of the members that are secrets, which `sdkctl --trace` masks."""
import re
import swift

SOURCE = "the files in Contract"


def names(data):
    """The members of a file that are secrets, or whose values all are."""
    for key, one in data.items():
        if isinstance(one, dict):
            # A table of members may have one that is called `type`.
            if isinstance(one.get("type"), str) and re.search(r"\b(secret|jwt)\b", one["type"]):
                yield key
            yield from names(one)


def files(sources):
    found = sorted({name for data in sources for name in names(data)})
    yield "Sources/sdkctl/Output/Trace+Secrets.swift", [
        swift.head(SOURCE),
        "extension Trace {\n  /// The members that the contract declares as secrets.\n",
        swift.listed("static let contractSecrets: Set<String> = [", [*map(swift.literal, found)], "]", 2), "}\n"]
