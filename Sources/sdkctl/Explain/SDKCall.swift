import JSONRPC
import SDKProtocol

/// A part of a phone SDK's API, with what takes its place here.
struct SDKCall: Hashable {
  /// The kind of the SDK.
  let kind: String
  /// The names, as the SDK spells them.
  let names: [String]
  /// The methods, and the questions to delegates, that do the same; none if nothing does.
  let methods: [String]
  /// The events that report the outcome.
  var events: [EventType] = []
  /// The difference that a developer of an app meets.
  let difference: String

  /// The words by which it is found: each name, and its last part without the arguments.
  var words: [String] {
    names.flatMap { name -> [String] in
      let bare = String(name.prefix { $0 != "(" })
      return [name, bare, bare.split(separator: ".").last.map(String.init) ?? bare]
    }
  }
}

extension SDKCall {
  /// Returns the tables of `Packaging/documentation/phone-sdk.md`.
  ///
  /// - Parameter document: the OpenRPC document, which has the names of the SDKs.
  static func markdown(_ document: JSON) -> String {
    var kinds: [String] = []
    for call in all where !kinds.contains(call.kind) { kinds.append(call.kind) }
    return kinds.map { kind in
      let summary = (document["x-kinds"]?.arrayValue ?? []).first { $0["name"]?.stringValue == kind }?["summary"]
      let title = (summary?.stringValue ?? kind).replacing("The ", with: "", maxReplacements: 1).filter { $0 != "." }
      let head = ["## \(title)", "", "The kind `\(kind)`.", ""]
      let table = ["| in the SDK | here | events | what is different |", "|---|---|---|---|"]
      return (head + table + all.filter { $0.kind == kind }.map(\.row)).joined(separator: "\n")
    }.joined(separator: "\n\n") + "\n"
  }

  private var row: String {
    func words(_ names: [String]) -> String {
      names.isEmpty ? "–" : names.map { "`\($0)`" }.joined(separator: ", ")
    }
    let cells = [words(names), words(methods), words(events.map(\.rawValue)), difference]
    return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }
}
