import Glibc
import SDKInstances
import SDKKinds
import SDKProtocol

/// A reader of the configuration: `sdkd.toml`, the drop-ins in `sdkd.toml.d`, and the `instances.d/*.toml` beside it.
enum ConfigurationLoader {
  /// The configuration as read, and every mistake. With mistakes it contains the readable parts, and defaults
  /// elsewhere. That is enough to log and to report them, but must not be applied: an instance that could not be read
  /// looks like one that was removed.
  struct Loaded: Sendable {
    /// The daemon's own configuration.
    var configuration = Configuration()
    /// The number of drop-ins.
    var dropIns = 0
    /// The instances that files define, by file.
    var instances: [InstanceFile] = []
    /// Every mistake, in the order of files and lines.
    var mistakes: [ConfigurationMistake] = []
    /// The mistakes that `sdkd --check` refuses and the daemon only warns of: an instance works until a call needs the
    /// wrong part.
    var warnings: [ConfigurationMistake] = []
  }

  /// Reads the main file, its drop-ins and the instances' files. Never throws: problems are among the mistakes.
  ///
  /// - Parameters:
  ///   - path: the main file; if it is absent, the defaults apply.
  ///   - kinds: the kinds that instances may have.
  ///   - credentialsDirectory: the directory in which `{ credential = … }` is looked up.
  ///   - commandNeedsSameUid: whether a provider's `command` requires `[bridge] same_uid = true`, as in a system
  ///     daemon.
  static func load(
    path: String, kinds: [any SDKKind], credentialsDirectory: String? = environmentCredentials,
    commandNeedsSameUid: Bool = false
  ) -> Loaded {
    let files = ConfigurationFiles(main: path)
    var loaded = Loaded()

    let secrets = SecretSource(credentialsDirectory: credentialsDirectory)
    let directory = MistakeLog(file: files.dropInDirectory)
    let (settings, logs) = files.settings(directory)
    let values = MistakeLog(of: settings.origins, file: path)
    loaded.configuration = Configuration(reading: settings, values, secrets: secrets)
    loaded.dropIns = logs.count - 1
    loaded.mistakes += ([directory] + logs + [values]).flatMap(\.sorted)

    let listed = MistakeLog(file: files.instancesDirectory)
    let paths = files.instancePaths(listed)
    loaded.mistakes += listed.sorted

    var known: [InstanceID: String] = [:]
    for file in paths {
      let log = MistakeLog(file: file)
      defer {
        loaded.mistakes += log.sorted
        loaded.warnings += log.warnings
      }
      guard let (document, mode) = files.instanceDocument(file, log) else { continue }
      let reader = InstanceFileReader(
        document: document, mode: mode, kinds: kinds, secrets: secrets, log: log,
        refusesCommand: commandNeedsSameUid && !loaded.configuration.bridge.sameUid,
        networkAllow: loaded.configuration.network.allow)
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

  /// The directory of the unit's credentials, as systemd passed it; `nil` for none.
  static var environmentCredentials: String? { getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) } }
}

extension ConfigurationLoader.Loaded {
  /// The error for callers while the configuration can't be used. It names no file, since any user can be a caller.
  var failure: SDKError? {
    guard !mistakes.isEmpty else { return nil }
    let count = mistakes.count == 1 ? "a mistake" : "\(mistakes.count) mistakes"
    let failure = SDKError(
      .store, .storeUnavailable,
      "The configuration has \(count); an administrator finds more with sdkctl config check, mends it and reloads.")
    return failure.permanent
  }
}

extension DaemonPaths {
  /// Reads the configuration that is currently on disk.
  func load() -> ConfigurationLoader.Loaded {
    Settings.sharing {
      ConfigurationLoader.load(path: config, kinds: Kinds.all, commandNeedsSameUid: isService)
    }
  }
}
