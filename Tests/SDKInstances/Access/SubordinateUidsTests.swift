import Testing

@testable import SDKInstances

struct SubordinateUidsTests {
  private func ranges(_ text: String) -> [String] {
    SubordinateUids(Array(text.utf8)).ranges.map { range in
      switch range.owner {
      case .uid(let uid): "\(uid) \(range.first)-\(range.last)"
      case .name(let name): "\(name) \(range.first)-\(range.last)"
      }
    }
  }

  @Test(
    arguments: [
      ("", []), ("\n\n", []), ("# comment\n", []), ("alice:100000:65536", ["alice 100000-165535"]),
      ("alice:100000:65536\nbob:165536:65536\n", ["alice 100000-165535", "bob 165536-231071"]),
      ("bob:165536:65536\nalice:100000:65536\n", ["alice 100000-165535", "bob 165536-231071"]),
      ("1000:100000:1\n", ["1000 100000-100000"]), ("alice:100000\n", []), ("alice:100000:1:x\n", []),
      (":100000:1\n", []), ("alice::1\n", []), ("alice:100000:\n", []), ("alice:100000:0\n", []),
      ("alice:-1:5\n", []), ("alice:+1:5\n", []), ("alice: 100000:5\n", []), ("alice:99999999999:5\n", []),
      ("alice:0:5\n", []), ("alice:4294967295:5\n", []), ("alice:4294967290:100\n", ["alice 4294967290-4294967294"]),
      ("alice:4294967294:4294967295\n", ["alice 4294967294-4294967294"]),
      ("alice:100:10\nbob:105:10\n", ["alice 100-109", "bob 110-114"]),
      ("alice:100:10\nbob:102:2\n", ["alice 100-109"]), ("alice:100:10\nbob:100:10\n", ["alice 100-109"]),
      ("bob:100:10\nalice:100:20\n", ["alice 100-119"]), ("ä:100:10\r\n", []),
    ] as [(String, [String])])
  func `A line is a user, a first uid and a count, and anything else is no range`(text: String, expected: [String]) {
    #expect(ranges(text) == expected)
  }

  @Test func `The table is bounded in bytes and lines, and a look-up is a binary search`() {
    var text = ""
    for number in 0..<40_000 { text += "u\(number):\(100_000 + number * 10):10\n" }
    let table = SubordinateUids(Array(text.utf8))
    #expect(table.ranges.count == SubordinateUids.maximumLines)
    for number in [0, 1, 777, SubordinateUids.maximumLines - 1] {
      for offset in [0, 5, 9] {
        #expect(table.range(of: UInt32(100_000 + number * 10 + offset))?.owner == .name("u\(number)"))
      }
    }
    #expect(table.range(of: 99_999) == nil)
    #expect(table.range(of: 0) == nil)
    #expect(table.range(of: .max) == nil)
    let long = SubordinateUids(Array(repeating: UInt8(ascii: "1"), count: 2 << 20))
    #expect(long.ranges.isEmpty)
  }
}
