import ArgumentParser
import Glibc
import JSONRPC
import Linux
import SDKProtocol

/// `sdkctl browser`: the commands for pages in a browser.
struct BrowserVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browser", abstract: "Let pages in Chromium and Firefox use the daemon.",
    subcommands: [BrowserCheckVerb.self, BrowserWriteVerb.self, BrowserHostVerb.self])
}

/// `sdkctl browser write`: writes the files that browsers read.
struct BrowserWriteVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "write", abstract: "Write the files with which browsers find the host and the allowed origins.",
    discussion: """
      Reads the list of what pages may use, /etc/sdkd/browser.json, and writes for Chromium and Firefox the manifest \
      of the host program, and the origins for the extension. With --update-url, Chromium installs the packed \
      extension by force. Run it again after each change of the origins, and start the browser again. Other \
      changes of the list count from a page's next connection.
      """,
    examples: [
      "sdkctl browser write",
      "sdkctl browser write --browser chrome --update-url https://kiosk.example/sdkd.xml",
    ])

  @OptionGroup var options: BrowserOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func run(in context: CommandContext) async throws {
    let manifest = try BrowserManifest(at: options.manifest)
    guard manifest.mistakes.isEmpty else { throw manifest.failure(options.manifest) }
    var written: [JSON] = []
    for file in options.files(manifest.pages.map(\.origin)) {
      try Self.write(file.json, to: options.path(file))
      written.append(["file": .string(options.path(file))])
    }
    try context.presenter.list(written) {
      Table(header: ["FILE"], rows: written.map { [.init($0["file"]?.stringValue ?? "")] })
    }
  }

  /// Replaces a file, which every user may read, as browsers run as any.
  private static func write(_ json: JSON, to path: String) throws {
    let text = Array((OpenRPCDocument.text(of: json) + "\n").utf8)
    let temporary = "\(path).new"
    do {
      try makeFolder(of: path)
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
      guard descriptor >= 0 else { throw SystemCallError("open", errno) }
      defer { close(descriptor) }
      let count = text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count == text.count, fchmod(descriptor, 0o644) == 0 else { throw SystemCallError("write", errno) }
      guard rename(temporary, path) == 0 else { throw SystemCallError("rename", errno) }
    } catch {
      throw CommandFailure(
        message: "\(path) can't be written: \(error).", reason: "systemError", status: 1,
        hints: geteuid() == 0 ? [] : ["run it as root"])
    }
  }

  private static func makeFolder(of path: String) throws(SystemCallError) {
    for index in path.indices.dropFirst() where path[index] == "/" {
      guard mkdir(String(path[..<index]), 0o755) == 0 || errno == EEXIST else { throw SystemCallError("mkdir", errno) }
    }
  }
}

/// `sdkctl browser check`: checks the list of what pages may use, the browsers' files, and the daemon's instances.
struct BrowserCheckVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "check", abstract: "Check the list of what pages may use, and the files of the browsers.",
    discussion: """
      Says every mistake in /etc/sdkd/browser.json, which files of the browsers are missing or old, and which listed \
      instances and methods the daemon does not have or does not show you. Run it as the user of the browser: an \
      instance that is hidden from that user is hidden from every page. Rules with unit: count only inside that unit: \
      there, ExecStartPre=-sdkctl browser check writes the result to the journal. As root it also warns of a list that \
      some users can't read. Exit status 1 when something is failing.
      """,
    examples: ["sdkctl browser check", "sudo -u kiosk sdkctl browser check -o json"])

  @OptionGroup var options: BrowserOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let manifest = try BrowserManifest(at: options.manifest)
    guard manifest.mistakes.isEmpty else { throw manifest.failure(options.manifest) }
    var findings = [
      Finding(.ok, "list", "\(options.manifest) lists \(manifest.pages.map(\.origin).joined(separator: ", ")).")
    ]
    if geteuid() == 0, let obstacle = ReadObstacle.forOthers(options.manifest) {
      findings.append(
        Finding(
          .warning, "list", "Not every user can read \(options.manifest): others may not \(obstacle.deed).",
          advice: "\(obstacle.remedy), unless the browser's user can read it all the same"))
    }
    findings += options.files(manifest.pages.map(\.origin)).map(finding)
    if access(options.root + options.hostProgram, X_OK) != 0 {
      findings.append(
        Finding(
          .failing, "host", "\(options.root + options.hostProgram) is no program.",
          advice: "install the package webext-sdkd"))
    }
    do {
      findings += try await Self.findings(manifest.pages, context.limited(to: Doctor.patience))
    } catch {
      guard let failure = CommandFailure(error) else { throw error }
      findings.append(Finding(.failing, "daemon", failure.message, advice: "sdkctl doctor"))
    }
    try context.presenter.list(findings.map(\.json)) { Finding.table(findings) }
    let failing = findings.count { $0.status == .failing }
    guard failing > 0 else { return }
    throw CommandFailure(
      message: "\(failing) of \(findings.count) checks \(failing == 1 ? "is" : "are") failing.", reason: "failing",
      status: 1)
  }

  private func finding(_ file: BrowserFiles.File) -> Finding {
    let path = options.path(file)
    guard let text = BoundedFile.text(at: path, limit: 1 << 20) else {
      return Finding(.failing, "file", "\(path) is missing.", advice: "sdkctl browser write")
    }
    guard (try? JSONParser.parse(text)) == file.json else {
      return Finding(
        .failing, "file", "\(path) is not what sdkctl browser write would write.", advice: "sdkctl browser write")
    }
    return Finding(.ok, "file", "\(path).")
  }

  /// Returns what the daemon says about the listed instances and methods.
  private static func findings(_ pages: [PageRights], _ context: CommandContext) async throws -> [Finding] {
    let document = try await context.ask(RPCDiscover.self, .init())
    let methods = Set((document["methods"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue })
    let instances = Set(try await context.instances(.init()).compactMap { $0["instance"]?.stringValue })
    var findings: [Finding] = []
    for page in pages {
      for method in page.methods where !methods.contains(method) {
        findings.append(Finding(.failing, "method", "The daemon has no method \(method), which \(page.origin) lists."))
      }
      for instance in page.instances where !instances.contains(instance) {
        findings.append(
          Finding(
            .failing, "instance", "There is no instance \(instance) for you, which \(page.origin) lists.",
            advice: "create it, or give the browser's user a role in its rules: use, or control to sign in and out. "
              + "Rules with unit: count only inside that unit: there, ExecStartPre=-sdkctl browser check shows their effect"
          ))
      }
    }
    return findings.isEmpty ? [Finding(.ok, "daemon", "It has all listed instances and methods.")] : findings
  }
}

extension BrowserManifest {
  /// The failure of a command that takes no list with a mistake.
  func failure(_ path: String) -> CommandFailure {
    CommandFailure(
      message: "\(mistakes.count == 1 ? "1 mistake" : "\(mistakes.count) mistakes") in \(path): "
        + mistakes.joined(separator: " "), reason: "invalidConfiguration", status: 78)
  }
}
