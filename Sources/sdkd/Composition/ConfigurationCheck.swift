import SDKKinds

/// `sdkd --check`: every mistake on a line of standard error.
enum ConfigurationCheck {
  /// - Returns: 0 without mistakes, 78 (`EX_CONFIG`) with some.
  static func run(_ path: String) -> Int32 {
    let loaded = ConfigurationLoader.load(
      path: path, kinds: Kinds.all, commandNeedsSameUid: path == DaemonPaths.packaged)
    for mistake in loaded.mistakes { StandardError.write("\(mistake)") }
    if loaded.mistakes.isEmpty {
      print("\(path): \(loaded.instances.count) instances, no mistakes")
      return 0
    }
    return 78
  }
}
