import Randomness
import Testing

@testable import JSONRPC

struct JSONFuzzTests {
  @Test(arguments: 1...8)
  func `Random bytes never trap, and what is taken comes back`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabet =
      Array("{}[]\",:\\u0123456789abcdefDd8+-.eEtrunlsfa \n\t".utf8) + [0x00, 0x1F, 0x80, 0xC3, 0xA9, 0xFF]
    for _ in 0..<4000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      guard let value = try? JSONParser.parse(bytes) else { continue }
      #expect(try JSONParser.parse(JSONWriter.bytes(of: value)) == value)
    }
  }

  @Test(arguments: 1...8)
  func `A damaged text never traps`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let whole = Array(
      #"{"jsonrpc":"2.0","id":1e3,"method":"t\u00e9\ud83d\ude00","params":{"a":[null,true,-1.5e-3]}}"#.utf8)
    for _ in 0..<4000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes = Array(bytes.prefix(place))
        }
      }
      if let frame = try? RPCFrame(bytes[...]), case .single(.request(let request)) = frame {
        #expect(!RPCText.response(id: request.id, result: Array("null".utf8)).contains(0x0A))
      }
    }
  }

  @Test(arguments: 1...20)
  func `Any value makes the round trip on one line`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let value = Self.value(depth: 5, &random)
      let bytes = JSONWriter.bytes(of: value)
      #expect(!bytes.contains { $0 < 0x20 })
      let again = try JSONParser.parse(bytes)
      #expect(again == value)
      #expect(JSONWriter.bytes(of: again) == bytes)
    }
  }

  private static func value(depth: Int, _ random: inout SeededGenerator) -> JSON {
    switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return JSON(Int.random(in: .min ... .max, using: &random))
    case 3: return JSON(Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &random)))
    case 4: return .string(text(&random))
    case 5: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth - 1, &random) })
    default:
      return .object(
        JSONObject(
          (0..<Int.random(in: 0...20, using: &random)).map { _ in (text(&random), value(depth: depth - 1, &random)) }))
    }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    let scalars: [ClosedRange<UInt32>] = [0...0x7F, 0...0x1F, 0x80...0x2FF, 0x2028...0x2029, 0x1F600...0x1F64F]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      if let scalar = Unicode.Scalar(UInt32.random(in: scalars.randomElement(using: &random) ?? 0...0, using: &random))
      {
        text.append(scalar)
      }
    }
    return String(text)
  }
}
