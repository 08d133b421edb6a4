import Glibc
import Testing

@testable import sdkd

struct ConfigurationFilesTests {
  @Test func `A file that is too large is refused`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.main, String(repeating: "#", count: ConfigurationFiles.maximumBytes + 1))
    #expect(files.load().mistakes.map(\.description) == ["\(files.main): The file is larger than 1024 KiB."])
  }

  @Test func `A pipe or directory in the place of a file stops nobody`() throws {
    let files = try TemporaryConfiguration()
    mkfifo(files.main, 0o600)
    files.adopt(files.main)
    mkdir(files.instance("a"), 0o700)
    files.adopt(files.instance("a"))
    #expect(
      files.load().mistakes.map(\.description) == [
        "\(files.main): The file is no plain file.", "\(files.instance("a")): The file is no plain file.",
      ])
  }

  @Test func `A link that leads nowhere is a mistake`() throws {
    let files = try TemporaryConfiguration()
    symlink("nowhere", files.instance("a"))
    files.adopt(files.instance("a"))
    #expect(files.load().mistakes.map(\.description) == ["\(files.instance("a")): The file does not exist."])
  }

  @Test func `A file that everyone can write is refused`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.main, "", mode: 0o602)
    #expect(files.load().lines == ["-: -: The file can be written by everyone; take that away with chmod o-w."])
  }

  @Test func `What stands in the place of the directory is said`() throws {
    let files = try TemporaryConfiguration()
    rmdir("\(files.directory)/instances.d")
    try files.write("instances.d", "")
    #expect(
      files.load().mistakes.map(\.description) == [
        "\(files.directory)/instances.d: The directory can't be read: Not a directory."
      ])
  }

  @Test func `What the system says is passed on, for the main file too`() throws {
    let files = try TemporaryConfiguration()
    symlink("sdkd.toml", files.main)
    files.adopt(files.main)
    #expect(
      files.load().mistakes.map(\.description) == [
        "\(files.main): The file can't be read: Too many levels of symbolic links."
      ])
  }

  @Test func `The directory is beside the main file`() {
    #expect(ConfigurationFiles(main: "sdkd.toml").instancesDirectory == "instances.d")
    #expect(ConfigurationFiles(main: "/etc/sdkd/x.toml").instancesDirectory == "/etc/sdkd/instances.d")
  }
}
