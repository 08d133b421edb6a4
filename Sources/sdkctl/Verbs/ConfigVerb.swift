import ArgumentParser
import JSONRPC

/// `sdkctl config`: the commands for the configuration's files.
struct ConfigVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Look at the daemon's configuration.",
    subcommands: [ConfigCheckVerb.self, ConfigShowVerb.self])
}

/// `sdkctl config check [FILE]`: reports every mistake in the configuration.
struct ConfigCheckVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "check", abstract: "Say every mistake in the configuration's files.",
    discussion: """
      Checks the file of the daemon that is meant, or FILE, with its drop-ins in the directory FILE.d and the instances \
      in instances.d beside it, by sdkd --check. The daemon need not run, and nothing is put in force: that is sdkctl reload, which also says when \
      a call has taken the id of a file. Exit status 78 when there are mistakes, or when FILE does not exist.
      """,
    examples: [
      "sdkctl config check",
      "sdkctl config check ./sdkd.toml",
    ])

  @Argument(help: "The configuration file, if not that of the daemon.", completion: .file(extensions: ["toml"]))
  var file: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { file == nil }

  func run(in context: CommandContext) async throws {
    let path = try FileSettings.path(file, of: global.location)
    let absence = FileSettings.absence(of: path)
    let ended: ChildProcess.Ended
    do {
      ended = try ConfigurationCheck.run(path)
    } catch {
      throw CommandFailure(message: "sdkd can't be run: \(error.description).", reason: "noProgram", status: 1)
    }
    let lines = ended.errors.split(separator: "\n").map(String.init)
    let report: JSON = [
      "file": .string(path), "exists": .bool(absence == nil), "valid": .bool(ended.status == 0),
      "mistakes": .array(lines.map(Self.mistake)),
    ]
    if context.presenter.isForPeople {
      let said = lines + [absence].compactMap(\.self) + ended.output.split(separator: "\n").map(String.init)
      for line in said { try context.output.line(line) }
    } else {
      try context.presenter.show(report)
    }
    guard ended.status != 0 else { return }
    guard ended.status == 78 else {
      throw CommandFailure(message: "sdkd --check ended with \(ended.status).", reason: "failed", status: 1)
    }
    throw CommandFailure(
      message: "\(lines.count == 1 ? "1 mistake" : "\(lines.count) mistakes") in the configuration.",
      reason: "configuration", status: 78)
  }

  /// Returns a line `FILE:LINE: MESSAGE` as JSON.
  static func mistake(_ line: String) -> JSON {
    var parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count > 1 else { return ["message": .string(line)] }
    var object: JSONObject = ["file": .string(String(parts.removeFirst()))]
    if parts.count == 2, let number = Int(parts[0]) {
      object["line"] = JSON(number)
      parts.removeFirst()
    }
    object["message"] = .string(String(parts.joined(separator: ":").drop { $0 == " " }))
    return .object(object)
  }
}

/// `sdkctl config show [FILE]`: prints the settings that the configuration's files set.
struct ConfigShowVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "show", abstract: "Show the settings in the configuration's files, and where each comes from.",
    discussion: """
      Reads the file of the daemon that is meant, or FILE, and its drop-ins in the directory FILE.d, as a reload would. \
      Settings that no file sets have their default: sdkd --default-config. Exit status 78 when \
      FILE does not exist, and when a file can't be read as TOML or has a value of the wrong type; sdkctl config check finds all mistakes.
      """,
    examples: [
      "sdkctl config show",
      "sdkctl config show ./sdkd.toml -o json",
    ])

  @Argument(help: "The configuration file, if not that of the daemon.", completion: .file(extensions: ["toml"]))
  var file: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { file == nil }

  func run(in context: CommandContext) async throws {
    let path = try FileSettings.path(file, of: global.location)
    let settings = try FileSettings(of: path)
    try context.presenter.list(settings.entries, none: "Everything has its default.", context.errors) {
      Table(header: ["KEY", "VALUE", "FROM"], rows: settings.entries.map(Self.row))
    }
  }

  private static func row(_ entry: JSON) -> [Table.Cell] {
    let place = "\(entry["file"]?.stringValue ?? ""):\(entry["line"]?.intValue ?? 1)"
    return [
      .init(entry["key"]?.stringValue ?? ""), .init(entry["value"].map { JSONWriter.text(of: $0) } ?? "invalid"),
      .init(place),
    ]
  }
}
