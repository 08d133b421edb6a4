import JSONRPC
import SDKProtocol

/// The tables of the error reference, `Packaging/documentation/errors.md`.
struct ErrorReference {
  /// The OpenRPC document, as `rpc.discover` and `sdkd --openrpc` give it.
  let document: JSON
  /// The reasons of each entry in `components`, by the reference to it.
  private let referenced: [String: [String]]
  /// The methods whose errors can have a reason, in the order of the document.
  private var methodsByReason: [String: [String]] = [:]
  /// The reasons that every method can answer with.
  private var common: Set<String> = []

  /// Reads the errors of a document.
  init(document: JSON) {
    self.document = document
    referenced = (document["components"]?["errors"]?.objectValue?.members ?? []).reduce(into: [:]) {
      $0["#/components/errors/\($1.key)"] = Self.reasons(in: $1.value)
    }
    for method in document["methods"]?.arrayValue ?? [] {
      guard let name = method["name"]?.stringValue else { continue }
      let reasons = (method["errors"]?.arrayValue ?? []).flatMap(reasons)
      for reason in reasons where methodsByReason[reason]?.last != name {
        methodsByReason[reason, default: []].append(name)
      }
    }
    common = Set((document["x-errors"]?.arrayValue ?? []).flatMap(reasons))
  }

  /// The tables as Markdown.
  var markdown: String {
    ReasonEntry.Source.allCases.map { source in
      let entries = ReasonEntry.all.filter { $0.source == source }
      let head = source == .client ? [] : ["code"]
      let columns = ["reason"] + head + ["exit", "retry", "cause", "for the user", "what to do"]
      return
        (["## \(source.rawValue)", "", row(columns), row(columns.map { _ in "---" })]
        + entries.map { row(cells(of: $0)) }).joined(separator: "\n") + methods(of: entries)
    }.joined(separator: "\n\n") + "\n"
  }

  private func cells(of entry: ReasonEntry) -> [String] {
    ["`\(entry.name)`"] + (entry.source == .client ? [] : [entry.codes.map(String.init).joined(separator: ", ")])
      + [
        entry.statuses.isEmpty ? "–" : entry.statuses.map { String($0) }.joined(separator: ", "),
        entry.retry.rawValue, entry.cause,
        "“\(entry.sentence.text(in: .en))”", entry.remedy,
      ]
  }

  private func row(_ cells: [String]) -> String {
    "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }

  /// Returns a table of the methods of each reason; empty if the document does not have the errors of methods.
  private func methods(of entries: [ReasonEntry]) -> String {
    let rows = entries.compactMap { entry -> String? in
      let names = methods(with: entry.name)
      return names.isEmpty ? nil : row(["`\(entry.name)`", grouped(names).map { "`\($0)`" }.joined(separator: ", ")])
    }
    guard !rows.isEmpty else { return "" }
    return "\n\n"
      + ([row(["reason", "methods (a reason that is not in this table can come from any)"]), row(["---", "---"])] + rows)
      .joined(separator: "\n")
  }

  /// Returns the methods whose errors can have a reason; those of all methods are not listed.
  func methods(with reason: String) -> [String] { methodsByReason[reason] ?? [] }

  /// Whether every method can answer with a reason.
  func isOfEveryMethod(_ reason: String) -> Bool { common.contains(reason) }

  /// Returns the reasons of an entry in a method's list of errors.
  func reasons(of error: JSON) -> [String] {
    error["$ref"]?.stringValue.flatMap { referenced[$0] } ?? Self.reasons(in: error)
  }

  private static func reasons(in error: JSON) -> [String] {
    let data = error["data"]
    let schemas = [data].compactMap(\.self) + (data?["allOf"]?.arrayValue ?? [])
    return schemas.flatMap { $0["properties"]?["reason"]?["enum"]?.arrayValue ?? [] }.compactMap(\.stringValue)
  }

  /// Returns `prefix.*` in place of methods that are all of that prefix.
  private func grouped(_ names: [String]) -> [String] {
    func prefix(_ name: String) -> String { String(name.prefix { $0 != "." }) }
    let all = Dictionary(
      grouping: (document["methods"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }, by: prefix)
    let found = Dictionary(grouping: names, by: prefix)
    return found.keys.sorted().flatMap { key -> [String] in
      let names = found[key] ?? []
      return names.count > 1 && names.count == all[key]?.count ? ["\(key).*"] : names.sorted()
    }
  }
}
