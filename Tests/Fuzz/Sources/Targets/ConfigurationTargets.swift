import Glibc
import JSONRPC
import SDKInstances
import SDKProtocol

@testable import Linux
@testable import SDKKinds
@testable import sdkd

extension FuzzTarget {
  /// `sdkd.toml` with itself as a drop-in. An administrator writes it, and each mistake in it is explained, which costs more than reading.
  static let configuration = FuzzTarget("configuration", costFactor: 60) { input in
    let log = MistakeLog(file: "sdkd.toml")
    guard let document = document(input, log) else { return }
    var settings = MergedSettings()
    settings.merge(document.root, log)
    settings.merge(document.root, MistakeLog(file: "sdkd.toml.d/a.toml"))
    let configuration = Configuration(reading: settings, MistakeLog(of: settings.origins, file: log.file))
    require(configuration.access.admins.count <= document.root.count * 4096, "There are more admins than text.")
    check(log)
  }

  /// A file of `instances.d`.
  static let instanceFile = FuzzTarget("instance-file", costFactor: 60) { input in
    let log = MistakeLog(file: "desk.toml")
    guard let document = document(input, log) else { return }
    let reader = InstanceFileReader(
      document: document, mode: FileMode(bits: 0o600, owner: 0, group: 0), kinds: Kinds.all,
      secrets: SecretSource(credentialsDirectory: "/nonexistent"), log: log, refusesCommand: true)
    if let instance = reader.read(), log.isEmpty {
      require(instance.definition.excess == nil, "A definition is over its limits.")
      require(
        instance.definition.access.byRole.allSatisfy { $0.rules.count <= AccessRules.maximumPerRole },
        "A role has too many rules.")
    }
    check(log)
  }

  private static func document(_ input: Input, _ log: MistakeLog) -> TOMLDocument? {
    do throws(TOMLSyntaxProblem) {
      let document = try TOMLDocument(bytes: input.bytes)
      log.lines = document.lines
      return document
    } catch {
      log.add(line: error.line, error.message)
      let lines = input.bytes.count { $0 == 0x0A } + 1
      require((1...lines).contains(error.line), "A mistake is on line \(error.line) of \(lines).")
      return nil
    }
  }

  private static func check(_ log: MistakeLog) {
    for mistake in log.sorted {
      require(mistake.message.utf8.count <= 8 << 10, "A message has \(mistake.message.utf8.count) bytes.")
    }
  }
}
