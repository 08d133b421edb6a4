"""The checks of `daemon.health`, as the operator's guide and `sdkctl explain` show them."""
import swift

SOURCE = "Contract/checks.toml"
KEYS = "name status cause callers remedy"


def entries(data):
    yield swift.head(SOURCE, "import SDKProtocol")
    yield "extension CheckEntry {\n  /// All rows of the table, in its order.\n  static let all: [CheckEntry] = [\n"
    for one in data["checks"]:
        yield f"    .init(\n      name: {swift.literal(one['name'])},\n      status: {swift.case(one['status'])},\n"
        texts = [(key, one[key]) for key in ("cause", "callers", "remedy") if key in one]
        for label, text in texts:
            yield swift.argument(label, text, ")," if label == texts[-1][0] else ",")
    yield "  ]\n}\n"


def files(data):
    for one in data["checks"]:
        swift.check_keys(f"checks.{one['name']}", one, KEYS)
    yield "Sources/sdkctl/Explain/CheckEntry+All.swift", entries(data)
