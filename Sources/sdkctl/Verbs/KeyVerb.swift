import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl key`: the commands for the keys that seal the state.
struct KeyVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key", abstract: "Make and replace the keys that encrypt the state.",
    subcommands: [KeyInitVerb.self, KeyRotateVerb.self])
}

/// `sdkctl key init`: makes the credential that holds the root key.
struct KeyInitVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "init", abstract: "Make the root key of the system's daemon, or make it anew from its recovery key.",
    discussion: """
      The key becomes an encrypted credential in /etc/credstore.encrypted, which the unit of the daemon loads. A daemon \
      that had its key in a file moves to it at its next start. The recovery key is printed once: write it down and \
      keep it elsewhere. With --recovery it is read from standard input or the keyboard, and the credential is made of it, \
      on another machine or after the credential was lost. A key that does not open the state is refused.
      """,
    examples: [
      "sdkctl key init --system",
      "sdkctl key init --system --recovery < recovery-key",
    ])

  @Flag(help: "Read a recovery key and make the credential of it.")
  var recovery = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func validate() throws { try global.checkCredentials() }

  func run(in context: CommandContext) async throws {
    let place = try global.daemonOfCredentials(context)
    try CredentialStore.checkRoot()
    let store = CredentialStore(tenant: place.tenant)
    let file = store.file(CredentialStore.current)
    let key = try recovery ? Self.recoveryKey(context.input) : RecoveryKey()
    try check(key, store, place)
    try store.write(key, as: CredentialStore.current)
    try context.show(key, shows: !recovery, file: file, next: "restart the daemon: \(place.restart)")
  }

  /// Throws for a key that does not open the state, and for one that would replace a needed key.
  private func check(_ key: RecoveryKey, _ store: CredentialStore, _ place: DaemonPlace) throws {
    let directory = store.state
    if store.has(CredentialStore.current) {
      let present = try? store.read(CredentialStore.current)
      let isNeeded = try present.map { try !recovery || StateKey(of: directory, $0).isOpen } ?? !recovery
      guard !isNeeded else {
        throw CommandFailure(
          message: "There is a root key already: \(store.file(CredentialStore.current)).", reason: "exists", status: 1,
          hints: ["\(place.command("key rotate --outer")) replaces it", "remove it first if no state needs it"])
      }
    }
    let state = try StateKey(of: directory, recovery ? key : nil)
    if let refusal = state.refusal(isRecovery: recovery, directory: directory, place) { throw refusal }
  }

  /// Reads a recovery key from standard input or the keyboard.
  static func recoveryKey(_ input: Input) throws -> RecoveryKey {
    guard let key = RecoveryKey(text: try input.secret(from: nil, prompt: "Recovery key: ")) else {
      throw CommandFailure.input(
        "this is no recovery key: it has 14 groups of four letters and digits; look for a slip.")
    }
    return key
  }
}

/// `sdkctl key rotate`: replaces the master key, or the root key.
struct KeyRotateVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "rotate", abstract: "Replace the master key while the daemon runs, or the root key at its next start.",
    discussion: """
      Without an option the daemon makes a new master key and wraps every data key under it. --outer prepares another \
      root key beside the present one; the daemon takes it over when it is restarted, and --finish then makes it the only \
      one.
      """,
    examples: [
      "sdkctl key rotate",
      "sdkctl key rotate --system --outer",
      "sdkctl key rotate --system --finish",
    ])

  @Flag(help: "Prepare another root key and print its recovery key.")
  var outer = false

  @Flag(help: "Make the other root key the only one, after the restart.")
  var finish = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { outer || finish }

  func validate() throws {
    if outer || finish { try global.checkCredentials() }
    if outer, finish { throw ValidationError("Give one of --outer and --finish: the restart lies between them.") }
  }

  func run(in context: CommandContext) async throws {
    if outer { return try prepare(in: context) }
    if finish { return try await complete(in: context) }
    let result = try await Progress(context.errors).during("key rotate") {
      try await context.ask(DaemonRotateKey.self, Empty())
    }
    try context.presenter.show(result)
  }

  private func prepare(in context: CommandContext) throws {
    let place = try global.daemonOfCredentials(context)
    try CredentialStore.checkRoot()
    let store = CredentialStore(tenant: place.tenant)
    guard !store.has(CredentialStore.next) else {
      throw CommandFailure(
        message: "There is another root key already: \(store.file(CredentialStore.next)).", reason: "exists", status: 1,
        hints: [place.finishRotation])
    }
    let key = RecoveryKey()
    try store.write(key, as: CredentialStore.next)
    try context.show(key, shows: true, file: store.file(CredentialStore.next), next: place.finishRotation)
  }

  private func complete(in context: CommandContext) async throws {
    let place = try global.daemonOfCredentials(context)
    try CredentialStore.checkRoot()
    let store = CredentialStore(tenant: place.tenant)
    guard store.has(CredentialStore.next) else {
      throw CommandFailure(
        message: "There is no other root key.", reason: "notFound", status: 5,
        hints: [
          "\(place.command("key rotate --outer")) prepares one",
          "after --finish, \(place.command("status")) names sdkd.key.next until the daemon is restarted",
        ])
    }
    let health = try await context.ask(DaemonHealth.self, Empty())
    let check = (health["checks"]?.arrayValue ?? []).first { $0["name"] == "key" }
    guard check?["detail"]?.stringValue?.hasPrefix(CredentialStore.next) == true else {
      throw CommandFailure(
        message: "The daemon has not taken the other root key over; nothing was changed.", reason: "notTaken",
        status: 1,
        hints: ["\(place.restart), then look at \(place.command("status"))"])
    }
    // For a moment both credentials hold the key, so that the daemon finds it even after an interruption.
    try store.write(try store.read(CredentialStore.next), as: CredentialStore.current)
    try store.remove(CredentialStore.next)
    try context.presenter.show(["credential": .string(store.file(CredentialStore.current))])
    guard context.presenter.isForPeople else { return }
    // systemd gives a service its credentials when it starts, so the daemon can't notice.
    try context.errors.line(
      "Done. \(place.command("status")) names sdkd.key.next until the next restart, which is not needed.")
  }
}

extension CommandContext {
  /// Prints the credential's file and a new key, and on standard error the next step.
  func show(_ key: RecoveryKey, shows: Bool, file: String, next: String) throws {
    var object: JSONObject = ["credential": .string(file)]
    if shows { object["recoveryKey"] = .string(key.text) }
    try presenter.show(.object(object))
    guard presenter.isForPeople else { return }
    if shows {
      try errors.line(
        "Write the recovery key down and keep it elsewhere: it is not shown again, and without it or this")
      try errors.line("machine's own secret nobody opens the state or a backup of it.")
    }
    try errors.line("Next: \(next)")
  }
}

extension DaemonPlace {
  /// The command that restarts the daemon.
  fileprivate var restart: String { systemctl("restart", "service", byHand: "") }

  /// The commands that end a rotation of the root key.
  var finishRotation: String { "\(restart), then \(command("key rotate --finish"))" }
}
