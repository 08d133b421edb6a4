import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The local checks of an identifier, without the network (seed 004, "User identifier requirements").
@Suite struct EdnaIdentifierTests {
  private func outcome(_ text: String, isEncrypted: Bool = false, isStrict: Bool = false) -> String {
    do throws(SDKError) {
      let hints = try EdnaIdentifier.check(Secret(text), isEncrypted: isEncrypted, isStrict: isStrict)
      return hints.isEmpty ? "fine" : "hint"
    } catch {
      return error.reason.rawValue
    }
  }

  @Test(arguments: ["", " \t", "a\r", "a\u{7F}", String(repeating: "x", count: 1025)])
  func `What is none is refused, encrypted or not`(text: String) {
    #expect(outcome(text) == "invalidIdentifier")
    #expect(outcome(text, isEncrypted: true) == "invalidIdentifier")
  }

  @Test(arguments: ["+79123456789", "8 (912) 345-67-89", "1234567", "a@b.co", " alice@example.com "])
  func `What anybody may know is weak unless it is encrypted`(text: String) {
    #expect(outcome(text) == "hint")
    #expect(outcome(text, isStrict: true) == "weakIdentifier")
    #expect(outcome(text, isEncrypted: true, isStrict: true) == "fine")
  }

  @Test(
    arguments: [
      "user_uuid", "550e8400-e29b-41d4-a716-446655440000", "123456", "1234567890123456", "1234567a", "a@b", "@b.co",
      "a@.co", "a@b.", "a@b@c.d",
    ])
  func `Anything else is fine`(text: String) {
    #expect(outcome(text, isStrict: true) == "fine")
  }

  @Test("An identifier that is not ASCII is refused where it is sent in clear", arguments: ["идентификатор", "é", "😀"])
  func ascii(text: String) throws {
    #expect(outcome(text) == "invalidIdentifier")
    #expect(outcome(text, isEncrypted: true) == "invalidIdentifier", "an app's ciphertext is sent as it is")
    #expect(try EdnaIdentifier.check(Secret(text), isEncrypted: true, isSent: false, isStrict: true).isEmpty)
    do throws(SDKError) {
      _ = try EdnaIdentifier.check(Secret(text), isEncrypted: false, isStrict: false)
    } catch {
      #expect(error.member == "user.identifier" && error.hints.contains { $0.contains("identifier_public_key") })
    }
  }

  @Test func `A message about an identifier does not quote it`() {
    do throws(SDKError) {
      _ = try EdnaIdentifier.check("alice@example.com", isEncrypted: false, isStrict: true)
      #expect(Bool(false))
    } catch {
      #expect(!error.message.contains("alice"))
    }
  }
}
