import Glibc
import JSONRPC
import SDKInstances
import Testing

@testable import sdkd

struct SecretSettingTests {
  private static let start =
    "id = \"a\"\nkind = \"zendesk.messaging\"\n[settings]\nbase_url = \"https://a.b\"\napp_id = \"5\"\n"

  private func load(
    _ secret: String, mode: mode_t = 0o600, _ prepare: (TemporaryConfiguration) throws -> Void = { _ in }
  ) throws -> ConfigurationLoader.Loaded {
    let files = try TemporaryConfiguration()
    try prepare(files)
    let text = Self.start + "client_secret = \(secret)\n".replacing("DIR", with: files.directory)
    try files.write(files.instance("a"), text, mode: mode)
    return files.load()
  }

  private func secret(_ loaded: ConfigurationLoader.Loaded) -> String? {
    loaded.instances.first?.definition.settings["client_secret"]?.stringValue
  }

  @Test func `A secret in a private file is taken`() throws {
    let loaded = try load("\"s3cret\"")
    #expect(loaded.lines == [])
    #expect(secret(loaded) == "s3cret")
  }

  @Test(arguments: [0o604, 0o644] as [mode_t])
  func `A file that holds a secret and that others can read is refused`(mode: mode_t) throws {
    let loaded = try load("\"s3cret\"", mode: mode)
    #expect(loaded.places == ["6 settings.client_secret"])
    #expect(loaded.instances.isEmpty)
    #expect(!loaded.lines.joined().contains("s3cret"))
  }

  @Test func `Without a secret in it others may read the file`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.instance("a"), Self.start, mode: 0o644)
    #expect(files.load().lines == [])
  }

  @Test func `A credential and a file stand for their text, without the last line's end`() throws {
    let credential = try load("{ credential = \"vendor.secret\" }", mode: 0o644) {
      try $0.write("vendor.secret", "from systemd\n", mode: 0o444)
    }
    #expect(credential.lines == [])
    #expect(secret(credential) == "from systemd")
    let file = try load("{ file = \"DIR/secret\" }", mode: 0o644) { try $0.write("secret", " a\nb\r\n") }
    #expect(file.lines == [])
    #expect(secret(file) == " a\nb")
  }

  @Test(arguments: [
    ("{ credential = \"none\" }", "credential: The credential does not exist."),
    ("{ credential = \"../x\" }", "credential: This is no name of a credential."),
    ("{ file = \"secret\" }", "file: This must be an absolute path."),
    ("{ file = \"DIR/none\" }", "file: The file does not exist."),
    ("{ file = \"DIR\" }", "file: The file is no plain file."),
    ("{ file = \"DIR/open\" }", "file: The file can be read by others; chmod 600 it."),
    ("{ file = \"DIR/empty\" }", "file: The file is empty."),
    ("{ file = \"DIR/binary\" }", "file: The file is not valid UTF-8 without NUL characters."),
    ("{ file = \"DIR/large\" }", "file: The file is larger than 64 KiB."),
    ("{ fil = \"DIR/empty\" }", "fil: This key is not known; a secret is text, { credential = … } or { file = … }."),
  ])
  func `A secret that can't be had is a mistake at its reference`(secret: String, expected: String) throws {
    let loaded = try load(secret) {
      try $0.write("open", "x", mode: 0o644)
      try $0.write("empty", "\n")
      try $0.write("binary", bytes: [0x61, 0x00])
      try $0.write("large", String(repeating: "x", count: 70_000))
    }
    #expect(loaded.lines == ["6: settings.client_secret.\(expected)"])
    #expect(loaded.instances.isEmpty)
  }

  @Test(arguments: ["{}", "{ file = 1 }", "{ file = \"/a\", credential = \"b\" }"])
  func `A reference is one of two`(secret: String) throws {
    let found = try load(secret).lines
    #expect(
      found == ["6: settings.client_secret: A secret is text, { credential = \"NAME\" } or { file = \"/PATH\" }."])
  }

  @Test func `Without credentials from systemd that is said`() {
    #expect(throws: SecretProblem.self) {
      try SecretSource(credentialsDirectory: nil).secret(["credential": "a"])
    }
  }
}
