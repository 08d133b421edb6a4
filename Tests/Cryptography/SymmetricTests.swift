import Foundation
import Testing

@testable import Cryptography

/// Keys, authentication codes and sealed values, against the examples of the standards.
@Suite struct SymmetricTests {
  /// RFC 4231, cases 1 to 4, 6 and 7.
  private static let codes: [(key: [UInt8], message: [UInt8], code: String)] = [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(0x01...0x19), [UInt8](repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ]

  @Test("Authentication codes are those of RFC 4231", arguments: codes)
  func code(example: (key: [UInt8], message: [UInt8], code: String)) {
    let key = AuthenticationKey(SymmetricKey(data: example.key))
    let code = key.code(of: example.message)
    #expect(code == bytes(example.code))
    // A key can be used again, and a longer message does not disturb it.
    _ = key.code(of: [UInt8](repeating: 1, count: 1000))
    #expect(key.code(of: Data(example.message)) == code)
    #expect(key.isValid(code, of: example.message))
    for index in code.indices {
      var wrong = code
      wrong[index] ^= 0x80
      #expect(!key.isValid(wrong, of: example.message))
    }
    #expect(!key.isValid(code.dropLast(), of: example.message))
  }

  @Test("A derived key is that of RFC 5869, case 3")
  func derived() {
    let key = SymmetricKey(data: [UInt8](repeating: 0x0B, count: 22)).derive(for: "")
    #expect(
      key.withUnsafeBytes(Array.init) == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
  }

  @Test("A value that others sealed opens (NIST's AES-GCM, test case 16)")
  func opened() {
    let key = SymmetricKey(data: bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
    let plain = bytes(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    )
    let sealed = bytes(
      "cafebabefacedbaddecaf888"
        + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        + "76fc6ece0f4e1768cddf8853bb2d551b")
    let additional = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    #expect(AESGCM.open(Data(sealed), under: key, authenticating: additional) == Data(plain))
  }

  @Test("What was sealed opens, and nothing that differs in a bit", arguments: [0, 1, 14, 16, 300])
  func sealed(count: Int) throws {
    let (key, plain, additional) = (
      SymmetricKey(), Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }), Array("row".utf8)
    )
    let sealed = try #require(AESGCM.seal(plain, under: key, authenticating: additional))
    #expect(sealed.count == count + AESGCM.overhead)
    #expect(AESGCM.open(sealed, under: key, authenticating: additional) == plain)
    #expect(AESGCM.seal(plain, under: key, authenticating: additional) != sealed)
    #expect(AESGCM.open(sealed, under: SymmetricKey(), authenticating: additional) == nil)
    #expect(AESGCM.open(sealed, under: key, authenticating: []) == nil)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(AESGCM.open(changed, under: key, authenticating: additional) == nil)
    }
    for length in [0, 11, 12, 27, sealed.count - 1] {
      #expect(AESGCM.open(sealed.prefix(length), under: key, authenticating: additional) == nil)
    }
    // A slice, whose indices don't begin at 0.
    #expect(AESGCM.open((Data([7]) + sealed).dropFirst(), under: key, authenticating: additional) == plain)
  }

  @Test("A key of another length seals and opens nothing", arguments: [0, 16, 31, 33])
  func length(count: Int) {
    let key = SymmetricKey(data: [UInt8](repeating: 1, count: count))
    #expect(key.byteCount == count)
    #expect(AESGCM.seal(Data([1]), under: key, authenticating: []) == nil)
    #expect(AESGCM.open(Data(count: 40), under: key, authenticating: []) == nil)
  }

  @Test("Random keys differ, and a copy is the same")
  func keys() {
    let key = SymmetricKey()
    let bytes = key.withUnsafeBytes(Array.init)
    #expect(bytes.count == 32 && bytes != SymmetricKey().withUnsafeBytes(Array.init))
    #expect(key.withUnsafeBytes { SymmetricKey(copying: $0) }.withUnsafeBytes(Array.init) == bytes)
  }
}

/// Returns the bytes of a text of hexadecimal digits.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.utf8.map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
