import Foundation

/// The paths of the files that a machine is made of.
enum MachineRoot {
  /// The checkout that the tests were built from.
  static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The path of the Debian root with the package: `SDKD_SYSTEM_ROOT`, or else the output path of
  /// `Packaging/system-root`.
  static let path =
    ProcessInfo.processInfo.environment["SDKD_SYSTEM_ROOT"]
    ?? project.appendingPathComponent(".build/system-root").path

  /// The path of the releases that `Packaging/system-root` makes with `Tests/System/Releases/make-releases`.
  static let releases = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("system-releases")
    .path

  /// The directory of the programs that were built with the tests: that of the test runner.
  static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().path

  /// The directory of Swift's libraries, at the path where the programs look for them; `nil` if it is unknown.
  static let swiftRuntime: String? = {
    guard let maps = try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd() else { return nil }
    let line = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .first { $0.hasSuffix("/libswiftCore.so") }
    guard let line, let slash = line.firstIndex(of: "/") else { return nil }
    return URL(fileURLWithPath: String(line[slash...])).deletingLastPathComponent().path
  }()
}
