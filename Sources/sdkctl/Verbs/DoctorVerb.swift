import ArgumentParser
import JSONRPC
import SDKClient

/// `sdkctl doctor`: checks the daemon and its machine, and advises on problems.
struct DoctorVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "doctor", abstract: "Look for what may be wrong, and say what to do about it.",
    discussion: """
      Looks, with the rights of whoever runs it, at the socket, the daemon and its health, your rights, the \
      configuration, instances that need a credential, token providers, the vendors' servers and their clocks, the key, \
      the disk, the clock and the journal. What it can't look at it says. Exit status 1 when something is failing; \
      warnings are no failure. A daemon that does not answer within 3 s, or --timeout, is reported with the state of \
      its unit and its restarts. The vendors are asked by curl, for the head of their first page.
      """,
    examples: [
      "sdkctl doctor",
      "sdkctl doctor --user",
      "sdkctl doctor -o json",
    ])

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func run(in context: CommandContext) async throws {
    let progress = Progress(context.errors)
    let doctor = Doctor(
      context: context.limited(to: Doctor.patience), place: try DaemonPlace(global.location), caller: .process)
    let findings = await doctor.findings(progress)
    progress.end()
    try context.presenter.list(findings.map(\.json)) { Finding.table(findings) }
    let failing = findings.count { $0.status == .failing }
    guard failing > 0 else { return }
    throw CommandFailure(
      message: "\(failing) of \(findings.count) checks \(failing == 1 ? "is" : "are") failing.", reason: "failing",
      status: 1)
  }
}
