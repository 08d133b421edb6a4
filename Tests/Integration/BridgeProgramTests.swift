import Foundation
import Glibc
import JSONRPC
import Testing

/// The check of provider programs, with real files, links, owners and modes.
@Suite struct BridgeProgramTests {
  private func refused(
    _ desk: BridgeDesk, _ path: String, reason: String = "providerNotAllowed",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    try desk.run(path)
    let error = try desk.line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == reason, "\(error.message)", sourceLocation: sourceLocation)
    return error.message
  }

  private func answers(_ desk: BridgeDesk, _ path: String) throws {
    try desk.run(path)
    #expect(try desk.line.call("token.refresh", ["instance": "desk"])["fromCache"] == false)
  }

  @Test func whatIsNoProgram() throws {
    let desk = try BridgeDesk()
    mkdir(desk.path("folder"), 0o755)
    mkfifo(desk.path("fifo"), 0o755)
    try desk.desk.write("plain", "#!/bin/sh\n", mode: 0o644)
    #expect(try refused(desk, desk.path("folder")).contains("is a directory"))
    #expect(try refused(desk, desk.path("fifo")).contains("no regular file"))
    #expect(try refused(desk, "/dev/null").contains("no regular file"))
    #expect(try refused(desk, desk.path("plain")).contains("not executable (mode 644)"))
    #expect(try refused(desk, desk.path("none"), reason: "providerFailed").contains("install it"))
    #expect(try refused(desk, desk.path("plain/x"), reason: "providerFailed").contains("is no directory"))
    #expect(throws: RPCError.self) { try desk.run("provider") }
    #expect(throws: RPCError.self) { try desk.run("./provider") }
  }

  @Test func whoElseMayWrite() throws {
    let desk = try BridgeDesk("exec \(BridgeDesk.mint)")
    let provider = desk.path("provider")
    for mode in [0o777, 0o775, 0o757] as [mode_t] {
      chmod(provider, mode)
      #expect(try refused(desk, provider).contains("others can write"))
    }
    chmod(provider, 0o755)
    mkdir(desk.path("sub"), 0o755)
    rename(provider, desk.path("sub/provider"))
    chmod(desk.path("sub"), 0o775)
    #expect(try refused(desk, desk.path("sub/provider")).contains("/sub (mode 775)"))
    // In a sticky directory of root, such as `/tmp`, users cannot replace the files of other users.
    chmod(desk.path("sub"), 0o1777)
    try answers(desk, desk.path("sub/provider"))
  }

  @Test(.enabled(if: getuid() == 0, "needs root to give files away")) func whoElseMayOwn() throws {
    let desk = try BridgeDesk("exec \(BridgeDesk.mint)")
    let provider = desk.path("provider")
    chown(provider, 65_534, 65_534)
    #expect(try refused(desk, provider).contains("belongs to uid 65534"))
    chown(provider, 0, 65_534)
    try answers(desk, provider)
    mkdir(desk.path("sub"), 0o755)
    rename(provider, desk.path("sub/provider"))
    chown(desk.path("sub"), 65_534, 65_534)
    #expect(try refused(desk, desk.path("sub/provider")).contains("/sub belongs to uid 65534"))
    // A sticky directory is safe only if root owns it: its owner may replace every file in it.
    chmod(desk.path("sub"), 0o1777)
    #expect(try refused(desk, desk.path("sub/provider")).contains("/sub belongs to uid 65534"))
    chown(desk.path("sub"), 0, 0)
    chmod(desk.path("sub"), 0o755)
    symlink("sub/provider", desk.path("link"))
    try answers(desk, desk.path("link"))
    lchown(desk.path("link"), 65_534, 65_534)
    #expect(try refused(desk, desk.path("link")).contains("/link belongs to uid 65534"))
  }

  @Test func linksAreFollowedAndCheckedOnTheWay() throws {
    let desk = try BridgeDesk("exec \(BridgeDesk.mint)")
    symlink("provider", desk.path("relative"))
    symlink(desk.path("relative"), desk.path("absolute"))
    try answers(desk, desk.path("absolute"))
    try answers(desk, desk.desk.folder.path + "/.//../\(desk.desk.folder.lastPathComponent)/provider")
    mkdir(desk.path("open"), 0o755)
    chmod(desk.path("open"), 0o777)
    symlink("../provider", desk.path("open/link"))
    #expect(try refused(desk, desk.path("open/link")).contains("/open (mode 777)"))
    symlink("open/link", desk.path("outer"))
    #expect(try refused(desk, desk.path("outer")).contains("/open (mode 777)"))
    symlink("loop", desk.path("loop"))
    #expect(try refused(desk, desk.path("loop"), reason: "providerFailed").contains("too many symbolic links"))
    symlink("nowhere", desk.path("broken"))
    #expect(try refused(desk, desk.path("broken"), reason: "providerFailed").contains("is missing"))
  }

  @Test func anInterpreterThatIsNotThereIsAFailureOfTheProvider() throws {
    let desk = try BridgeDesk()
    try desk.desk.write("odd", "#!/nowhere/interpreter\n", mode: 0o755)
    let message = try refused(desk, desk.path("odd"), reason: "providerFailed")
    #expect(message.contains("change the first line of"))
    #expect(try desk.bridge()["lastExit"] == "notStarted")
  }

  @Test func anInterpreterThatOthersMayWriteIsNotRun() throws {
    let desk = try BridgeDesk()
    try desk.desk.write("interpreter", "#!/bin/sh\nexec \(BridgeDesk.mint)\n", mode: 0o755)
    try desk.desk.write("script", "#!\(desk.path("interpreter"))\n", mode: 0o755)
    try answers(desk, desk.path("script"))
    chmod(desk.path("interpreter"), 0o777)
    #expect(try refused(desk, desk.path("script")).contains("/interpreter (mode 777)"))
  }

  @Test func theListOfDirectoriesNarrows() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["real", "other"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    // The path in `bridge.allow` is itself a symbolic link.
    symlink("real", folder.path + "/allowed")
    let desk = try BridgeDesk(configuration: "[bridge]\nallow = [\"\(folder.path)/allowed\"]\n")
    func write(_ name: String) throws {
      let file = folder.appendingPathComponent(name)
      try Program.noFileIsBeingWritten.withLock {
        try Data("#!/bin/sh\nexec \(BridgeDesk.mint)\n".utf8).write(to: file)
      }
      chmod(file.path, 0o755)
    }
    try write("real/provider")
    try write("other/provider")
    try answers(desk, "\(folder.path)/real/provider")
    try answers(desk, "\(folder.path)/allowed/provider")
    #expect(try refused(desk, "\(folder.path)/other/provider").contains("bridge.allow"))
    #expect(try refused(desk, "\(folder.path)/allowed/../other/provider").contains("bridge.allow"))
    // A link in an allowed directory to a program outside is refused. A link from outside to an allowed program works.
    symlink("../other/provider", folder.path + "/real/out")
    #expect(try refused(desk, "\(folder.path)/allowed/out").contains("bridge.allow"))
    symlink("../real/provider", folder.path + "/other/in")
    try answers(desk, "\(folder.path)/other/in")
    // With `shell`, the program that is checked is the shell.
    try desk.use(["command": "echo token", "shell": true])
    #expect(try desk.line.failure("token.refresh", ["instance": "desk"]).reason == "providerNotAllowed")
  }
}
