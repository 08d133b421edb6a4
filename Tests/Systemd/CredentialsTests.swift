import Glibc
import Testing

@testable import Systemd

@Suite struct CredentialsTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write([1, 0, 10, 255], to: "sdkd.key")
    try directory.write([], to: "empty")
  }

  private func read(_ name: String, limit: Int = 1024) throws(CredentialError) -> [UInt8]? {
    try Credentials.read(name: name, directory: directory.path, limit: limit)
  }

  @Test func readsAnyBytes() throws {
    #expect(try read("sdkd.key") == [1, 0, 10, 255])
    #expect(try read("empty") == [])
  }

  @Test func missingIsNil() throws {
    #expect(try read("sdkd.key.next") == nil)
    #expect(try Credentials.read(name: "a", directory: "/nonexistent", limit: 9) == nil)
  }

  @Test(arguments: ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\u{0}b", "a b", "a\n", "ä", "a:b"])
  func refusesNamesThatLeaveTheDirectory(name: String) {
    #expect(throws: CredentialError.invalidName(name)) { try read(name) }
  }

  @Test func refusesNamesThatAreTooLong() {
    #expect(Credentials.isValid(name: String(repeating: "a", count: 255)))
    #expect(!Credentials.isValid(name: String(repeating: "a", count: 256)))
  }

  @Test func refusesLongCredentials() throws {
    #expect(try read("sdkd.key", limit: 4) != nil)
    #expect(throws: CredentialError.tooLarge("sdkd.key", limit: 3)) { try read("sdkd.key", limit: 3) }
  }

  @Test func refusesLinksAndPipes() throws {
    symlink("/etc/hostname", directory.file("link"))
    #expect(throws: CredentialError.self) { try read("link") }
    mkfifo(directory.file("pipe"), 0o600)
    #expect(throws: CredentialError.notAFile("pipe")) { try read("pipe") }
  }

  @Test func readsFromTheServiceManagersDirectory() async {
    await #expect(processExitsWith: .success) {
      unsetenv("CREDENTIALS_DIRECTORY")
      #expect(try Credentials.read(name: "sdkd.key") == nil)
      let directory = try TemporaryDirectory()
      try directory.write(Array("secret".utf8), to: "sdkd.key")
      setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
      #expect(try Credentials.read(name: "sdkd.key") == Array("secret".utf8))

      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
      defer { buffer.deallocate() }
      #expect(try Credentials.read(name: "sdkd.key", into: buffer) == 6)
      #expect(buffer.prefix(6).elementsEqual("secret".utf8))
      #expect(try Credentials.read(name: "other", into: buffer) == nil)
      let short = UnsafeMutableRawBufferPointer(rebasing: buffer[..<5])
      #expect(throws: CredentialError.tooLarge("sdkd.key", limit: 5)) {
        try Credentials.read(name: "sdkd.key", into: short)
      }
    }
  }
}
