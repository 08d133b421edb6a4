import Glibc
import SDKInstances
import SDKProtocol

/// Reads the configuration: `sdkd.toml` and the `instances.d/*.toml` beside it.
enum ConfigurationLoader {
  /// What was read, and every mistake. With mistakes the rest is what could be understood, defaults elsewhere: enough to
  /// log and to say what is wrong, not to be put in force, since an instance that could not be read looks like one that
  /// was removed.
  struct Loaded: Sendable {
    /// The daemon's own configuration.
    var configuration = Configuration()
    /// The instances that files define, by file.
    var instances: [InstanceFile] = []
    /// Every mistake, in the order of files and lines.
    var mistakes: [ConfigurationMistake] = []
  }

  /// Reads everything; never throws: what is wrong is among the mistakes.
  ///
  /// - Parameters:
  ///   - path: the main file; absent means defaults.
  ///   - kinds: the kinds that instances may be of.
  ///   - credentialsDirectory: where `{ credential = … }` is looked up.
  ///   - commandNeedsSameUid: whether a provider's `command` takes `[bridge] same_uid = true`: in a system daemon.
  static func load(
    path: String, kinds: [any SDKKind], credentialsDirectory: String? = environmentCredentials,
    commandNeedsSameUid: Bool = false
  ) -> Loaded {
    let files = ConfigurationFiles(main: path)
    var loaded = Loaded()

    let main = MistakeLog(file: path)
    if let document = files.mainDocument(main) { loaded.configuration = Configuration(reading: document, main) }
    loaded.mistakes += main.sorted

    let listed = MistakeLog(file: files.instancesDirectory)
    let paths = files.instancePaths(listed)
    loaded.mistakes += listed.sorted

    let secrets = SecretSource(credentialsDirectory: credentialsDirectory)
    var known: [InstanceID: String] = [:]
    for file in paths {
      let log = MistakeLog(file: file)
      defer { loaded.mistakes += log.sorted }
      guard let (document, mode) = files.instanceDocument(file, log) else { continue }
      let reader = InstanceFileReader(
        document: document, mode: mode, kinds: kinds, secrets: secrets, log: log,
        refusesCommand: commandNeedsSameUid && !loaded.configuration.sameUid)
      if let id = reader.id {
        if let other = known[id] {
          log.add("id", "\(id) is the id in \(other) too; each id stands in one file.")
        } else {
          known[id] = file
        }
      }
      if let instance = reader.read(), log.isEmpty { loaded.instances.append(instance) }
    }
    if !loaded.mistakes.isEmpty { loaded.configuration.keepEverything() }
    return loaded
  }

  /// Where systemd put the unit's credentials.
  static var environmentCredentials: String? { getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) } }
}

extension ConfigurationLoader.Loaded {
  /// What callers are told while the configuration can't be used. It names no file: callers are anyone.
  var failure: SDKError? {
    guard !mistakes.isEmpty else { return nil }
    let count = mistakes.count == 1 ? "a mistake" : "\(mistakes.count) mistakes"
    let failure = SDKError(
      .store, .storeUnavailable,
      "The configuration has \(count); an administrator finds more with sdkd --check, mends it and reloads.")
    return failure.permanent
  }
}
