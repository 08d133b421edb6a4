import SDKProtocol
import Testing

@Suite struct DecodedJWTTests {
  @Test(arguments: [("", ""), ("TQ", "M"), ("TWE", "Ma"), ("TWFu", "Man"), ("_-8", "\u{FF}\u{EF}")])
  func base64URL(_ text: String, _ expected: String) {
    #expect(DecodedJWT.base64URL(Substring(text)) == expected.unicodeScalars.map { UInt8($0.value) })
  }

  @Test(arguments: ["", "a.b", "a.b.c", "eyJ9.eyJ9.", "e30.e30.=", "e30.W10.", "e30.e30.e30.e30", "e30.e30.a"])
  func noJWT(_ text: String) {
    #expect(DecodedJWT(text) == nil)
  }
}
