import Foundation

/// Where what a machine is made of lies.
enum MachineRoot {
  /// The Debian with the package: `SDKD_SYSTEM_ROOT`, else where `Packaging/system-root` puts it.
  static let path =
    ProcessInfo.processInfo.environment["SDKD_SYSTEM_ROOT"]
    ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/system-root").path

  /// The programs that were built with the tests: beside the test runner.
  static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().path

  /// The folder of Swift's libraries, which those programs look for where they were when they were built.
  static let swiftRuntime: String? = {
    guard let maps = try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd() else { return nil }
    let line = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .first { $0.hasSuffix("/libswiftCore.so") }
    guard let line, let slash = line.firstIndex(of: "/") else { return nil }
    return URL(fileURLWithPath: String(line[slash...])).deletingLastPathComponent().path
  }()
}
