import JSONRPC
import Randomness
import SDKInstances
import Testing

@testable import Linux
@testable import sdkd

struct ConfigurationFuzzTests {
  private static let seed = """
    # comment
    id = "front-desk"
    kind = "zendesk.messaging"
    labels = { floor = "1", "a.b" = 'c' }
    text = \"""
      many "lines" \\
      [x]
    \"""
    list = [1, 2.5, [true, { a.b = "x" }], # end
      1979-05-27, '''y
    ''']
    [settings]
    base_url = "https://acme.example/sc/sdk"
    "app_id" = "5f"
    refresh.mode = "eager"
    [provider]
    command = ["/usr/libexec/x", "\\u0041"]
    [[access.create]]
    who = "*"
    prefix = "p"
    max = 1
    [[access.create]]
    [access.create.more]
    x = 0x1F
    """

  private func feed(_ bytes: [UInt8]) {
    let log = MistakeLog(file: "fuzz")
    guard let document = try? TOMLDocument(bytes: bytes) else { return }
    log.lines = document.lines
    for path in document.root.keys { #expect(document.lines.has(path), "\(String(decoding: bytes, as: UTF8.self))") }
    var settings = MergedSettings()
    settings.merge(document.root, log)
    settings.merge(document.root, MistakeLog(file: "drop-in"))
    _ = Configuration(reading: settings, MistakeLog(of: settings.origins, file: "fuzz"))
    _ = InstanceFileReader(
      document: document, mode: FileMode(bits: 0o600, owner: 0, group: 0), kinds: [FakeKind()],
      secrets: SecretSource(credentialsDirectory: nil), log: log, refusesCommand: true
    ).read()
    _ = log.sorted.map(\.description)
  }

  @Test func `Texts cut anywhere never trap`() {
    let bytes = Array(Self.seed.utf8)
    for length in 0...bytes.count { feed(Array(bytes[..<length])) }
    for start in 0...bytes.count { feed(Array(bytes[start...])) }
  }

  @Test func `Random bytes never trap`() {
    var numbers = SeededGenerator(seed: 1)
    for length in 0..<600 { feed((0..<length % 64).map { _ in UInt8.random(in: 0...255, using: &numbers) }) }
  }

  @Test func `Texts with changed characters never trap, and what is read has its lines`() {
    var numbers = SeededGenerator(seed: 2)
    let pieces = [
      "\"", "'", "\"\"\"", "'''", "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "\\", "#", "1", "a", " ",
    ]
    .map { Array($0.utf8) }
    for _ in 0..<4000 {
      var bytes = Array(Self.seed.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        let end = min(bytes.count, place + Int.random(in: 0...3, using: &numbers))
        bytes.replaceSubrange(place..<end, with: pieces.randomElement(using: &numbers) ?? [])
      }
      feed(bytes)
    }
  }

  @Test func `Soup of what TOML is made of never traps`() {
    var numbers = SeededGenerator(seed: 3)
    let words = [
      "a", "b", ".", "=", "=", "[", "]", "{", "}", ",", "\n", "\n", "\"s\"", "'l'", "1", "true", "#c\n",
      "\"\"\"m\n\"\"\"", " ",
    ]
    for _ in 0..<5000 {
      let count = Int.random(in: 1...14, using: &numbers)
      feed(Array((0..<count).compactMap { _ in words.randomElement(using: &numbers) }.joined().utf8))
    }
  }
}
