import Foundation
import Testing

/// The unit files for token providers, as systemd reads them.
@Suite struct ProviderUnitFileTests {
  private static let tree = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Puts the shipped drop-ins and the example's units into a folder. The units name the wrapper that was built.
  private func staged() throws -> (Desk, folder: String) {
    let desk = try Desk()
    let folder = desk.folder.appendingPathComponent("units")
    let files = FileManager.default
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["sdkd-provider-.socket.d", "sdkd-provider-@.service.d"] {
      try files.copyItem(
        at: Self.tree.appendingPathComponent("systemd/system/\(name)"), to: folder.appendingPathComponent(name))
    }
    let examples = Self.tree.appendingPathComponent("Packaging/examples/provider-unit")
    for name in try files.contentsOfDirectory(atPath: examples.path) {
      let text = try String(contentsOf: examples.appendingPathComponent(name), encoding: .utf8)
      try desk.write(
        "units/\(name)",
        text.replacingOccurrences(of: "/usr/libexec/sdkd-provider", with: Program.path("sdkd-provider")))
    }
    return (desk, folder.path)
  }

  private func analyze(_ desk: Desk, _ arguments: [String], _ folder: String) throws -> (Int32?, String) {
    let log = desk.folder.appendingPathComponent("analyze.log")
    let program = try Program(
      "/usr/bin/systemd-analyze", arguments, environment: ["SYSTEMD_UNIT_PATH": "\(folder):"], output: log, log: log)
    return (program.exit(within: 60), program.logText)
  }

  @Test(arguments: ["sdkd-provider-front-desk.socket", "sdkd-provider-front-desk@1.service"])
  func systemdHasNothingToSay(unit: String) throws {
    let (desk, folder) = try staged()
    let (status, text) = try analyze(desk, ["verify", "--man=no", "\(folder)/\(unit)"], folder)
    #expect(status == 0)
    #expect(text == "")
  }

  @Test func theSandboxReachesEveryProvider() throws {
    let (desk, folder) = try staged()
    let (_, text) = try analyze(
      desk, ["security", "--offline=yes", "--no-pager", "\(folder)/sdkd-provider-front-desk@1.service"], folder)
    // Without the drop-in for all providers the score is near 9.6.
    let score = text.split(separator: "\n").last?.split(separator: " ").compactMap { Double($0) }.first
    #expect(try #require(score, "\(text)") < 2.5)
  }
}
