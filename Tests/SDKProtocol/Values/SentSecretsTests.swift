import Foundation
import SDKProtocol
import Testing

/// Texts of vendors that repeat the secrets of the request.
@Suite struct SentSecretsTests {
  private static let secret = "s/cr+t=of the user: 4711/é"
  private let sent = SentSecrets([Secret(Self.secret), Secret("pin-7")])

  private static var forms: [String] {
    let base64 = Data(secret.utf8).base64EncodedString()
    let encoded = secret.utf8.map { byte in
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8.contains(byte)
        ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
    }.joined()
    return [
      secret, encoded, encoded.lowercased(), base64, base64.replacing("+", with: "-").replacing("/", with: "_"),
      base64.replacing("=", with: ""), String(secret.prefix(14)), String(secret.suffix(15)), "pin-7",
    ]
  }

  @Test("A secret is masked in each form, wherever it is", arguments: forms)
  func masked(form: String) {
    for text in [form, "no: \(form)", "\(form) is bad", "(\(form))", "\(form)\(form)"] {
      let shown = sent.removed(from: text)
      #expect(!shown.contains(form) && shown.contains("‹masked›"), "\(shown)")
      #expect(sent.isRepeated(in: text))
      #expect(sent.text(text)?.text.contains(form) == false)
    }
  }

  /// A secret that has escapes in most encodings, as vendors and what is before them write it.
  private static let quoted = "s/cr+t=of \"user\" \\4711/é"
  private static var escapes: [String] {
    let percent = quoted.utf8.map { byte in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
      return isPlain ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
    }.joined()
    func json(_ text: String) -> String {
      text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("/", with: "\\/")
    }
    let units = quoted.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
    return [
      json(quoted), json(json(quoted)), percent.replacing("%20", with: "+"), percent.replacing("%", with: "%25"),
      json(percent), json(quoted).replacing("\\", with: "%5C"), units, quoted.uppercased(), percent.lowercased(),
      // As in the header of HTTP's basic authentication.
      Data(("app:" + quoted).utf8).base64EncodedString(), Data(("id:" + quoted).utf8).base64EncodedString(),
    ]
  }

  @Test("Escapes don't hide a secret, nor do other letters or what is before it in base64", arguments: escapes)
  func escaped(form: String) {
    let sent = SentSecrets([Secret(Self.quoted)])
    for text in ["no: \(form) is bad", "{\"token\":\"\(form)\"}"] {
      let shown = sent.removed(from: text)
      #expect(shown.contains("‹masked›") && !shown.contains("4711") && !shown.contains("cr"), "\(shown)")
      for start in form.indices {
        let part = form[start...].prefix(16)
        #expect(part.count < 16 || !shown.contains(part), "\(part) of \(shown)")
      }
    }
  }

  @Test("What is left beside a mark holds no secret that reads differently there, and marks are not masked")
  func rounds() {
    // Without its first bytes, the rest of an escape is a digit that begins another part.
    let sent = SentSecrets([Secret("aaaaaaaaaa%4"), Secret("1bcdefghijkl"), Secret("masked")])
    #expect(sent.removed(from: "aaaaaaaaaa%41bcdef%67hijkl") == "‹masked›‹masked›")
    #expect(sent.removed(from: "it is masked") == "it is ‹masked›")
  }

  @Test("A text without secrets stays as it is", arguments: ["", "invalid_grant", "Zugang für Bob gesperrt", "s/cr+t"])
  func kept(text: String) {
    #expect(sent.removed(from: text) == text)
    #expect(!sent.isRepeated(in: text))
    #expect(SentSecrets.none.text(text)?.text == text)
  }

  @Test("What looks like a secret is masked in a vendor's text, also if it was not sent")
  func others() {
    #expect(SentSecrets.none.text("token=abc!d is bad")?.text == "token=‹masked› is bad")
    #expect(SentSecrets.none.text(nil) == nil)
    #expect(sent.longest == Self.secret.utf8.count)
  }

  @Test("A part of a secret is found wherever it is in the secret and in the text, and nothing shorter")
  func places() {
    let secret = String((0..<60).map { Character(Unicode.Scalar(UInt8(0x30 + $0))) })
    for other in ["", "k", "pin-7", "0123456789ab"] {
      let sent = SentSecrets([Secret(secret), Secret(other)])
      for start in 0...48 {
        let part = secret.dropFirst(start).prefix(12)
        for padding in [0, 1, 7, 300] {
          #expect(sent.isRepeated(in: String(repeating: ".", count: padding) + part))
          #expect(sent.isRepeated(in: part + String(repeating: ".", count: padding)))
        }
        let short = part.dropLast()
        #expect(sent.isRepeated(in: "..\(short)..") == (other == "k" && short.lowercased().contains("k")), "\(short)")
      }
    }
  }

  @Test("Long texts and secrets take no long time")
  func long() {
    let long = SentSecrets([Secret(String(repeating: "ab", count: 8192))])
    let text = String(repeating: "ab", count: 1 << 20)
    let start = ContinuousClock.now
    #expect(long.text(text)?.text.contains("‹masked›") == true)
    #expect(ContinuousClock.now - start < .seconds(20))
  }
}
