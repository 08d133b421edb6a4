import Cryptography
import Testing

@testable import StateStore

@Suite struct CursorTests {
  private let key = SymmetricKey()

  @Test func bringsPositionsBack() throws {
    let coder = CursorCoder(key: key, stateID: "one")
    for position in [0, 1, 2, 255, 256, 1 << 40, UInt64.max] {
      let cursor = coder.encode(position)
      #expect(cursor.utf8.count == 32)
      #expect(cursor == coder.encode(position))
      #expect(coder.decode(cursor) == position)
    }
  }

  @Test func hidesHowFarApartTwoAre() {
    let coder = CursorCoder(key: key, stateID: "one")
    let cursors = (0..<200).map { coder.encode($0) }
    #expect(Set(cursors).count == 200)
    // Cursors of adjacent positions have no more characters in common than random texts have, anywhere in the text.
    let shared = zip(cursors, cursors.dropFirst()).map { zip($0, $1).count { $0 == $1 } }
    #expect((shared.max() ?? 0) < 8)
  }

  @Test func writesAPlaceDifferentlyEachTime() throws {
    let coder = CursorCoder(key: key, stateID: "one")
    let place = EventPlace(7, acknowledged: 900, losses: 1_800_000_000_123)
    let cursors = (0..<50).map { _ in coder.encode(place) }
    #expect(Set(cursors).count == 50)
    #expect(cursors.allSatisfy { coder.read($0) == .place(place) })
    // Two cursors of one position differ as much as cursors of two positions do.
    let shared = zip(cursors, cursors.dropFirst()).map { zip($0, $1).count { $0 == $1 } }
    #expect((shared.max() ?? 0) < 12)
    #expect(coder.read(coder.encode(7)) == .place(EventPlace(7)))
    for index in cursors[0].indices {
      var changed = cursors[0]
      changed.replaceSubrange(index...index, with: changed[index] == "A" ? "B" : "A")
      #expect(coder.read(changed) != .place(place))
    }
  }

  @Test("A cursor of an earlier version, without the number of losses, is read")
  func readsAnEarlierPlace() throws {
    let coder = CursorCoder(key: SymmetricKey(data: Array(repeating: UInt8(7), count: 32)), stateID: "one")
    // Made by version 0.1.0 from the place with position 7, acknowledged 900.
    let earlier = "FyMcBqrDbq5pop91FTqBQd1ylbpec2e8Xh_gDARriZgBAgMEBQYHCA"
    #expect(coder.read(earlier) == .place(EventPlace(7, acknowledged: 900)))
  }

  @Test func tellsAForeignCursorFromNone() {
    let coder = CursorCoder(key: key, stateID: "one")
    let other = CursorCoder(key: key, stateID: "two")
    #expect(coder.read(other.encode(1)) == .foreign)
    #expect(coder.read(other.encode(EventPlace(1))) == .foreign)
    for text in ["", "1", "not a cursor", String(other.encode(1).dropLast()), String(repeating: "A", count: 400)] {
      #expect(coder.read(text) == .malformed, "\(text)")
    }
  }

  @Test func takesNoneFromElsewhere() {
    let coder = CursorCoder(key: key, stateID: "one")
    let cursor = coder.encode(42)
    #expect(CursorCoder(key: key, stateID: "two").decode(cursor) == nil)
    #expect(CursorCoder(key: SymmetricKey(), stateID: "one").decode(cursor) == nil)
    for garbage in ["", "42", "=", cursor + "A", String(cursor.dropLast()), String(repeating: "A", count: 32), "é"] {
      #expect(coder.decode(garbage) == nil)
    }
    for index in cursor.indices {
      var changed = cursor
      changed.replaceSubrange(index...index, with: cursor[index] == "A" ? "B" : "A")
      #expect(coder.decode(changed) == nil)
    }
  }

  @Test func spellsBytesInOneWay() {
    for count in 0..<40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    #expect(Base64URL.decode("-_9") == nil)
    #expect(Base64URL.decode("A") == nil)
  }
}
