"""The sentences that an app shows to its user after an error, by language, and the reasons that have them."""
import swift

SOURCE = "Contract/sentences.toml"


def languages(data):
    yield swift.head(SOURCE)
    yield "/// A language of the sentences for people. The raw value is its code in ISO 639-1.\n"
    yield "public enum Language: String, Sendable, CaseIterable {\n"
    for code, name in data["languages"].items():
        yield f"  /// {name}.\n  case {code}\n"
    yield "}\n"


def sentences(data, shown):
    yield swift.head(SOURCE)
    yield "/// A sentence that an app shows to its user after an error.\n"
    yield "public enum Sentence: String, Sendable, CaseIterable {\n"
    for name, texts in data["sentences"].items():
        yield swift.document(texts["en"], 2) + f"  case {name}\n"
    yield "\n  /// The sentence of reasons that are not known.\n"
    yield f"  public static let general = Sentence.{data['general']}\n"
    yield "\n  /// Returns the text in a language.\n  public func text(in language: Language) -> String {\n"
    yield "    switch (self, language) {\n"
    for name, texts in data["sentences"].items():
        for code in data["languages"]:
            line = f"    case (.{name}, .{code}): {swift.literal(texts[code])}\n"
            short = len(line) <= swift.WIDTH + 1
            yield line if short else f"    case (.{name}, .{code}):\n      {swift.literal(texts[code])}\n"
    yield "    }\n  }\n\n"
    yield "  /// The reasons of errors after which the sentence is shown: of the daemon, of JSON-RPC, and of clients.\n"
    yield "  public var reasons: [String] {\n    switch self {\n"
    for name in data["sentences"]:
        names = [swift.literal(reason) for reason, sentence in shown.items() if sentence == name]
        line = f"    case .{name}: [{', '.join(names)}]\n"
        yield line if len(line) <= swift.WIDTH + 1 else f"    case .{name}:\n      {swift.array(names, 6)}\n"
    yield "    }\n  }\n}\n"


def shown(data):
    """The sentence of each reason. A word such as `timeout` can be a reason of both daemon and clients."""
    found = {}
    for section in ("protocol", "reasons", "client"):
        for name, one in data[section].items():
            if found.setdefault(name, one["show"]) != one["show"]:
                raise ValueError(f"the reason {name} has two sentences")
    return found


def files(data, reasons_data):
    codes = " ".join(data["languages"])
    for name, texts in data["sentences"].items():
        swift.check_keys(f"sentences.{name}", texts, codes)
    table = shown(reasons_data)
    if unknown := set(table.values()) ^ set(data["sentences"]):
        raise ValueError(f"these sentences are missing, or no reason shows them: {', '.join(sorted(unknown))}")
    yield "Sources/SDKProtocol/Errors/Language.swift", languages(data)
    yield "Sources/SDKProtocol/Errors/Sentence.swift", sentences(data, table)
