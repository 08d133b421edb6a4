import ArgumentParser

/// `sdkctl doctor`: checks the daemon and its machine, and advises on problems.
struct DoctorVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "doctor", abstract: "Look for what may be wrong, and say what to do about it.",
    discussion: """
      Looks, with the rights of whoever runs it, at the socket, the daemon and its health, your rights, the \
      configuration, instances that need a credential, hints of logins, token providers, the vendors' servers and their clocks, the key, \
      the disk, the clock and the journal. What it can't look at it says. Exit status 1 when something is failing; \
      warnings are no failure. A daemon that does not answer within 3 s, or --timeout, is reported with the state of \
      its unit and its restarts. The vendors are asked by curl, for the head of their first page.

      With --bundle it gathers what a maintainer needs to understand a report, prints a list of that, and writes it as \
      text into a new file that only you can read: versions, the findings, health, metrics, the configuration, the \
      states of the instances, units with their drop-ins, the last lines of the journal, limits, and the sizes of the \
      state and its backups. Tokens, keys, users, labels, stored values and what token providers print are left out. \
      Read it before you send it: sdkctl doctor --bundle - prints it and writes no file. On a terminal it asks before \
      it writes, unless --yes is given. Run it as root, which can read most.
      """,
    examples: [
      "sdkctl doctor",
      "sdkctl doctor --user",
      "sdkctl doctor -o json",
      "sdkctl doctor --bundle sdkd-report.txt",
    ])

  @Option(
    help: ArgumentHelp("Write what a maintainer needs into this new file; - prints it.", valueName: "path"),
    completion: .file())
  var bundle: String?

  @Flag(help: "Write the bundle without asking.")
  var yes = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func validate() throws {
    if yes, bundle == nil { throw ValidationError("--yes is for --bundle.") }
    if bundle?.isEmpty == true { throw ValidationError("A bundle needs the path of a file.") }
  }

  func run(in context: CommandContext) async throws {
    if let bundle, bundle != "-" { try SupportBundle.checkAbsence(of: bundle) }
    let progress = Progress(context.errors)
    let doctor = Doctor(
      context: context.limited(to: Doctor.patience), place: try DaemonPlace(global.location), caller: .process)
    let findings = await doctor.findings(progress)
    if let bundle { return try await write(findings, to: bundle, doctor, progress) }
    progress.end()
    try context.presenter.list(findings.map(\.json)) { Finding.table(findings) }
    let failing = findings.count { $0.status == .failing }
    guard failing > 0 else { return }
    throw CommandFailure(
      message: "\(failing) of \(findings.count) checks \(failing == 1 ? "is" : "are") failing.", reason: "failing",
      status: 1)
  }

  /// Gathers a support bundle, prints what it holds, and writes it.
  private func write(_ findings: [Finding], to path: String, _ doctor: Doctor, _ progress: Progress) async throws {
    let context = doctor.context
    let sources = BundleSources(context: context, place: doctor.place, caller: doctor.caller.name) { mask in
      Finding.table(findings.map { $0.mapped(mask) }).text(hasColour: false)
    }
    let bundle = await sources.bundle(progress)
    progress.end()
    if path == "-" { return try context.output.text(bundle.text) }
    try context.presenter.list(bundle.sections.map(\.json)) { bundle.table }
    if context.presenter.isForPeople { for note in bundle.notes { try context.errors.line(note) } }
    guard yes || context.input.confirms("Write it to \(path)?") else {
      throw CommandFailure(message: "Nothing was written.", reason: "cancelled", status: 1)
    }
    try bundle.write(to: path)
    guard context.presenter.isForPeople else { return }
    try context.errors.line("Written to \(path). Read it before you send it.")
  }
}
