import JSONRPC
import Testing

@testable import JSONRPCTransport

@Suite struct ConnectionHandOverTests {
  private static let full = ConnectionHandOver(
    inode: .max, framing: .headers, input: Array(0...255), output: Array("\u{0}\n\n{\"".utf8),
    requests: [
      .init(text: Array(#"{"jsonrpc":"2.0","id":"é","method":"a"}"#.utf8)), .init(text: [], batch: 1),
      .init(text: Array("x".utf8), batch: 0, isChecked: false),
    ], batches: [[], [Array(#"{"id":"é"}"#.utf8), []]], lastQuestion: 1 << 60, processStart: 1 << 62,
    program: ["subscriptions": [1, "two", nil]])

  private static let states = [
    full,
    ConnectionHandOver(inode: 1, framing: nil, input: [], output: [], requests: [], lastQuestion: 0, program: [:]),
    ConnectionHandOver(
      inode: 2, framing: .lines, input: [0xFF], output: [0xCC, 0x80], requests: [], lastQuestion: 3, program: .null),
  ]

  @Test("States are the same after they were written and read")
  func roundTrip() {
    for state in Self.states { #expect(ConnectionHandOver.decode(state.encoded) == [state]) }
    #expect(ConnectionHandOver.decode(Self.states.flatMap(\.encoded)) == Self.states)
  }

  /// Returns the bytes of `full` with another header.
  private static func bytes(_ change: (inout JSONObject) -> Void) throws -> [UInt8] {
    let bytes = full.encoded
    let end = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
    var header = try #require(try JSONParser.parse(bytes[..<end], .ownText).objectValue)
    change(&header)
    return JSONWriter.bytes(of: .object(header)) + bytes[end...]
  }

  @Test("A state of a later version with one more member is read")
  func unknownMember() throws {
    let bytes = try Self.bytes { $0["later"] = true }
    #expect(ConnectionHandOver.decode(bytes) == [Self.full])
  }

  @Test("A state without batches has the form that versions without batches write and read")
  func formWithoutBatches() throws {
    let text =
      #"{"inode":"9","framing":"lines","input":1,"output":1,"requests":["{}"],"lastQuestion":"7","program":{}}"#
    let state = ConnectionHandOver(
      inode: 9, framing: .lines, input: Array("a".utf8), output: Array("b".utf8),
      requests: [.init(text: Array("{}".utf8))], lastQuestion: 7, program: [:])
    #expect(ConnectionHandOver.decode(Array("\(text)\nab".utf8)) == [state])
    for (state, isKnown) in [(state, true), (Self.full, false)] {
      let header = try JSONParser.parse(state.encoded.prefix { $0 != UInt8(ascii: "\n") }, .ownText)
      #expect(header["requests"]?.arrayValue?.allSatisfy { $0.stringValue != nil } == isKnown)
    }
  }

  private static func member(_ batch: Int) -> JSON { ["batch": JSON(batch), "isChecked": true, "text": ""] }

  private static let damages: [(member: String, value: JSON?)] = [
    ("inode", nil), ("inode", "0"), ("inode", 7), ("inode", "-1"), ("inode", "18446744073709551616"),
    ("framing", nil), ("framing", "http"), ("framing", "foreign"), ("framing", "no"), ("framing", 1),
    ("requests", nil), ("requests", "x"), ("requests", ["ok", 1]), ("requests", ["no batch"]),
    ("requests", [member(0)]), ("requests", [member(0), member(2)]), ("requests", [member(0), member(1), member(-1)]),
    ("requests", [member(0), member(1), [:]]), ("requests", [member(0), ["batch": 1, "text": ""]]),
    ("requests", [member(0), ["batch": 1, "isChecked": true]]),
    ("requests", [member(0), ["isChecked": true, "text": ""]]),
    ("batches", nil), ("batches", "x"), ("batches", [[]]), ("batches", [[], [], []]), ("batches", [[], [1]]),
    ("batches", [[], "x"]),
    ("lastQuestion", nil), ("lastQuestion", 1), ("lastQuestion", "x"), ("processStart", "x"), ("processStart", "-1"),
    ("program", nil),
  ]

  @Test("A state with a damaged member is left out, and the next one is read", arguments: damages.indices)
  func damagedMember(index: Int) throws {
    let (member, value) = Self.damages[index]
    let bytes = try Self.bytes { $0[member] = value }
    #expect(
      ConnectionHandOver.decode(bytes + Self.full.encoded) == [Self.full], "\(member): \(String(describing: value))")
  }

  @Test("Nothing after a damaged length is read", arguments: [nil, -1, "1", JSON(1 << 40), JSON(Int.max)] as [JSON?])
  func damagedLength(value: JSON?) throws {
    for member in ["input", "output"] {
      let damaged = try Self.bytes { $0[member] = value }
      #expect(ConnectionHandOver.decode(Self.full.encoded + damaged + Self.full.encoded) == [Self.full])
    }
  }

  @Test("A state that was cut short is left out")
  func cutShort() {
    let bytes = Self.full.encoded
    for count in bytes.indices { #expect(ConnectionHandOver.decode(Array(bytes.prefix(count))).isEmpty) }
  }
}
