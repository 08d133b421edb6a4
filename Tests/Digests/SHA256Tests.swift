import Foundation
import Testing

@testable import Digests

/// The digest against the examples of the standard, and against `sha256sum`.
@Suite struct SHA256Tests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "The examples of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func examples(text: String, digest: String) { #expect(hexadecimal(SHA256.hash(text.utf8)) == digest) }

  @Test("Every length over two blocks gives what sha256sum says")
  func lengths() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sha256-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let messages = (0...130).map { length in (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ length) } }
    for (length, message) in messages.enumerated() {
      try Data(message).write(to: folder.appending(path: String(1000 + length)))
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "sha256sum *"]
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let lines = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self).split(
      separator: "\n")
    try #require(lines.count == messages.count)
    for (message, line) in zip(messages, lines) { #expect(line.prefix(64) == hexadecimal(SHA256.hash(message))) }
  }
}
