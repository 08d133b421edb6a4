import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl reload`: makes the daemon read its configuration again.
struct ReloadVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "reload", abstract: "Put the configuration in force that is on disk now.",
    discussion: """
      Says which instances of files were added, changed and removed. With a mistake anywhere nothing is changed: every \
      mistake is shown with file, line and key, and the exit status is 1. It is 1 too when something that is right could \
      not be put in force. It warns of rules with unknown users, groups and units, and of provider units without a socket. Takes an admin.
      """,
    examples: [
      "sdkctl reload",
      "sdkctl reload --tenant acme",
    ])

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let result: JSON
    do {
      result = try await context.ask(DaemonReload.self, Empty())
    } catch let SDKClientError.rpc(error) where error.reason == Reason.invalidConfiguration.rawValue {
      var failure = CommandFailure(.rpc(error))
      failure.hints = Self.lines(of: error.data)
      throw failure
    }
    try context.presenter.show(result) { Self.table(result) }
    let ids = Set(["added", "changed"].flatMap { result[$0]?.arrayValue ?? [] })
    if !ids.isEmpty, let instances = try? await context.instances(InstanceList.Params()) {
      try await context.warn(of: instances.filter { $0["instance"].map(ids.contains) == true }, global)
    }
    let problems = (result["problems"]?.arrayValue ?? []).map(Self.line)
    guard problems.isEmpty else {
      throw CommandFailure(
        message: "The configuration was put in force but for what is listed.", reason: "problems", status: 1,
        hints: problems)
    }
  }

  /// Returns `FILE:LINE: KEY: MESSAGE` for each mistake.
  static func lines(of data: JSONObject) -> [String] {
    let mistakes = data["mistakes"]?.arrayValue ?? []
    let lines = mistakes.map { mistake in
      let file = mistake["file"]?.stringValue ?? "?"
      let place = mistake["line"]?.intValue.map { "\(file):\($0)" } ?? file
      return [place, mistake["key"]?.stringValue, mistake["message"]?.stringValue].compactMap(\.self)
        .joined(separator: ": ")
    }
    let rest = (data["count"]?.intValue ?? 0) - lines.count
    return rest > 0 ? lines + ["and \(rest) more: sdkctl config check lists them"] : lines
  }

  private static func line(_ problem: JSON) -> String {
    let place = problem["instance"]?.stringValue ?? problem["key"]?.stringValue
    return [place, problem["message"]?.stringValue].compactMap(\.self).joined(separator: ": ")
  }

  /// Returns a table of the added, changed, removed and unchanged instances: their number and, unless unchanged, their
  /// ids.
  static func table(_ result: JSON) -> Table {
    let rows = ["added", "changed", "removed", "unchanged"].map { sort in
      let count = result["counts"]?[sort]?.intValue ?? 0
      let names = sort == "unchanged" ? [] : (result[sort]?.arrayValue ?? []).compactMap(\.stringValue)
      let more = sort == "unchanged" || names.count == count ? "" : " …"
      return [Table.Cell(sort, .bold), Table.Cell("\(count)"), Table.Cell(names.joined(separator: " ") + more)]
    }
    return Table(header: [], rows: rows)
  }
}
