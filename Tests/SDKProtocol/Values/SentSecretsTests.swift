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

  @Test("Long texts and secrets take no long time")
  func long() {
    let long = SentSecrets([Secret(String(repeating: "ab", count: 8192))])
    let text = String(repeating: "ab", count: 1 << 20)
    let start = ContinuousClock.now
    #expect(long.text(text)?.text.contains("‹masked›") == true)
    #expect(ContinuousClock.now - start < .seconds(20))
  }
}
