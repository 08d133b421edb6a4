import SDKKinds

/// `sdkd --check`: writes every mistake as a line on standard error.
enum ConfigurationCheck {
  /// - Returns: 0 without mistakes, 78 (`EX_CONFIG`) otherwise.
  static func run(_ paths: DaemonPaths) -> Int32 {
    let path = paths.config
    // Root checks the package's configuration for a daemon that runs as its own user.
    let isPackaged = ["/etc/sdkd/", "/etc/sdkd-tenants/"].contains { path.hasPrefix($0) }
    let loaded = ConfigurationLoader.load(
      path: path, kinds: Kinds.all, commandNeedsSameUid: paths.isService || isPackaged)
    for mistake in loaded.mistakes { StandardError.write("\(mistake)") }
    if loaded.mistakes.isEmpty {
      print("\(path): \(loaded.instances.count) instances, no mistakes")
      return 0
    }
    return 78
  }
}
