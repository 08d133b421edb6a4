import SDKProtocol
import Testing

@testable import SDKKinds

/// The findings about a unique id before it is sent to the vendor.
@Suite struct SupportLintTests {
  @Test(
    "Ids that are hard to guess have no findings",
    arguments: [
      "3f0c2b9e-5a4d-4f8e-9c55-2a4c1d1f6b11", "exactly-16-chars", "a.b.c.not.a.jwt.at.all", "has@at-but-no-dot",
    ])
  func good(id: String) throws {
    #expect(try SupportLint.check(Secret(id), isStrict: true).isEmpty)
  }

  @Test(
    "Others have one that says why",
    arguments: [
      ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "JWT"), ("alice.in.wonderland@example.test", "e-mail"),
      ("fifteen-letters", "16"), ("7", "16"),
    ])
  func weak(id: String, why: String) async throws {
    let found = try SupportLint.check(Secret(id), isStrict: false)
    #expect(found.count == 1)
    #expect(found.first?.contains(why) == true)
    #expect(found.first?.contains(id) == false)
    #expect(await reason { try SupportLint.check(Secret(id), isStrict: true) } == "weakIdentifier")
  }

  @Test("What is empty, blank or far too long is none", arguments: ["", " \t\n", String(repeating: "x", count: 8193)])
  func none(id: String) async {
    #expect(await reason { try SupportLint.check(Secret(id), isStrict: false) } == "invalidIdentifier")
  }
}
