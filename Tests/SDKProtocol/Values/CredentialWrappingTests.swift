import SDKProtocol
import Testing

struct CredentialWrappingTests {
  static let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6ImEifQ.c2ln"

  static let wrapped: [(String, String)] = [
    ("\u{FEFF}%", "a byte order mark"), ("\"%\"", "quotation marks"), ("'%'", "quotation marks"),
    ("`%`", "quotation marks"), ("“%”", "quotation marks"), ("Bearer %", "the word Bearer"),
    ("bearer\t %", "the word bearer"), ("Authorization: Bearer %", "the word Authorization: and the word Bearer"),
    (" \u{FEFF}\"Bearer %\"\r\n", "a byte order mark and quotation marks and the word Bearer"),
    ("'\"%\"'\n", "quotation marks"),
  ]

  @Test("A wrapped JWT is unwrapped, and the wrapping has a name", arguments: wrapped)
  func jwts(_ form: String, _ name: String) {
    let text = form.replacing("%", with: Self.jwt)
    let wrapping = CredentialWrapping(text)
    #expect(wrapping.content == Self.jwt)
    #expect(wrapping.description == name)
    #expect(CredentialWrapping.removed(fromJWT: Secret(text)) == Secret(Self.jwt))
  }

  @Test("A wrapped opaque credential stays as it is, and the wrapping has a name", arguments: wrapped)
  func opaque(_ form: String, _ name: String) {
    let text = form.replacing("%", with: "s3cret")
    #expect(CredentialWrapping(text).description == name)
    #expect(CredentialWrapping.removed(fromJWT: Secret(text)) == Secret(text))
    #expect(throws: Secret.Unusable.self) { try Secret(fileContent: Array(text.utf8)) }
  }

  @Test(
    "Other text has no wrapping",
    arguments: [
      jwt, "s3cret", "", "\"", "\"\"\"", "Bearer", "Bearers abc", "bearer-token", "\"a", "a\"", "a 'b'", "'a\"",
      "=\"a\"",
    ])
  func none(_ text: String) {
    let isQuoted = text == "\"\"\""
    #expect((CredentialWrapping(text).description == nil) != isQuoted)
    #expect(CredentialWrapping.removed(fromJWT: Secret(text)) == Secret(text))
  }

  @Test("Many layers of quotation marks take no long time")
  func layers() {
    let marks = String(repeating: "\"", count: 1 << 16)
    #expect(CredentialWrapping(marks + "a" + marks).description == "quotation marks")
  }

  @Test("The content of a secret's file")
  func files() throws {
    #expect(try Secret(fileContent: Array("s3cret\r\n\n".utf8)) == Secret("s3cret"))
    for (bytes, text) in [
      ([], "is empty"), ([0x0A], "is empty"), ([0xFF, 0xFE, 0x61, 0x00], "is UTF-16; save it as UTF-8"),
      ([0x61, 0xC3], "is not valid UTF-8 without NUL characters"),
      ([0x61, 0x00], "is not valid UTF-8 without NUL characters"),
      ([0xEF, 0xBB, 0xBF, 0x61], "has a byte order mark around the secret; write the secret alone"),
    ] as [([UInt8], String)] {
      let error = #expect(throws: Secret.Unusable.self) { try Secret(fileContent: bytes) }
      #expect(error?.description == text)
    }
  }
}
