import Testing

@testable import JSONRPCTransport

struct LineFramerTests {
  /// Returns all frames of `text` when it is appended in pieces of these sizes.
  private func frames(_ text: String, pieces: [Int], limit: Int = 64, finish: Bool = true) -> [String] {
    var framer = LineFramer(limit: limit)
    var found: [String] = []
    func drain(_ framer: inout LineFramer) {
      while let output = framer.next() {
        switch output {
        case .frame(let line): found.append(String(decoding: line, as: UTF8.self))
        case .tooLarge: found.append("<too large>")
        }
      }
    }
    var rest = Array(text.utf8)[...]
    var index = 0
    while !rest.isEmpty {
      framer.append(rest.prefix(pieces[index % pieces.count]))
      rest = rest.dropFirst(pieces[index % pieces.count])
      index += 1
      drain(&framer)
    }
    if finish {
      framer.finish()
      drain(&framer)
    }
    return found
  }

  @Test(arguments: [
    ("a\nb\n", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("\n\r\n  \t\r\na\n\n", ["a"]), ("a\nb", ["a", "b"]),
    ("a\nb\r", ["a", "b"]), ("", []), ("\n", []), ("\r", []), ("  ", []), (" a \n", [" a "]), ("a\rb\n", ["a\rb"]),
  ])
  func cutsLines(text: String, expected: [String]) {
    #expect(frames(text, pieces: [1000]) == expected)
    #expect(frames(text, pieces: [1]) == expected)
    #expect(frames(text, pieces: [2, 1, 3]) == expected)
  }

  @Test func keepsAnUnfinishedLineUntilTheEnd() {
    #expect(frames("a\nbc", pieces: [1], finish: false) == ["a"])
  }

  @Test(arguments: [1, 3, 1000])
  func holdsTheLimit(piece: Int) {
    let full = String(repeating: "x", count: 8)
    #expect(frames(full + "\n", pieces: [piece], limit: 8) == [full])
    #expect(frames(full + "\r\n", pieces: [piece], limit: 8) == [full])
    #expect(frames(full, pieces: [piece], limit: 8) == [full])
    #expect(frames(full + "x\nnext\n", pieces: [piece], limit: 8) == ["<too large>"])
    #expect(frames("ok\n" + full + "x", pieces: [piece], limit: 8, finish: false) == ["ok", "<too large>"])
    #expect(frames(full + "\rx\n", pieces: [piece], limit: 8) == ["<too large>"])
  }

  @Test func dropsWhatFollowsALineThatIsTooLarge() {
    var framer = LineFramer(limit: 4)
    framer.append(Array("12345".utf8))
    let first = framer.next()
    #expect(first == .tooLarge)
    framer.append(Array(repeating: UInt8(0x61), count: 1 << 20))
    let second = framer.next()
    #expect(second == nil)
    #expect(framer.pendingBytes == 0)
  }

  @Test func agreesWithSplittingHoweverTheBytesArrive() {
    var random = SeededRandom(seed: 7)
    for _ in 0..<500 {
      let text = String(
        (0..<Int.random(in: 0..<60, using: &random)).map { _ in "ab{}\" \n\n\r".randomElement(using: &random) ?? "a" })
      let expected = Array(text.utf8).split(separator: 0x0A).map { line in
        line.last == 0x0D ? line.dropLast() : line
      }.filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x0D } }.map { String(decoding: $0, as: UTF8.self) }
      let pieces = (0..<5).map { _ in Int.random(in: 1...9, using: &random) }
      #expect(frames(text, pieces: pieces) == expected, "\(text.debugDescription) by \(pieces)")
    }
  }

  /// Each byte is scanned once. A scan from the start for every byte would take 2^39 steps.
  @Test(.timeLimit(.minutes(1))) func looksAtEveryByteOnce() {
    var framer = LineFramer(limit: 1 << 20)
    for _ in 0..<(1 << 20) {
      framer.append(CollectionOfOne(UInt8(0x78)))
      if framer.next() != nil { Issue.record("a line too early") }
    }
    framer.append(CollectionOfOne(UInt8(0x0A)))
    guard case .frame(let line)? = framer.next() else {
      Issue.record("no frame")
      return
    }
    #expect(line.count == 1 << 20)
  }
}

/// A random number generator with the same numbers for the same seed.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) << 32 | (state &* 2_862_933_555_777_941_757) >> 32
  }
}
