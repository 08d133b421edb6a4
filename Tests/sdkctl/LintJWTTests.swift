import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

/// The verb `lint-jwt`. `Tests/JWTRules` has the rules.
struct LintJWTTests {
  @Test("The verb takes an SDK by its kind and by its short name")
  func audiences() async {
    for audience in JWTAudience.allCases { #expect(JWTAudience(argument: audience.rawValue) == audience) }
    let run = Run()
    // {"alg":"HS256"} . {"external_id":"m"}
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6Im0ifQ.c2VjcmV0\n"
    for name in ["chat", "zendesk.chat"] {
      #expect(await run.status("lint-jwt", "--sdk", name, input: jwt) == 1)
      #expect(run.output.contains("iatMissing"))
      #expect(!run.output.contains("kidMissing"))
    }
    #expect(await run.status("lint-jwt", "--sdk", "other", input: jwt) == 2)
  }

  @Test func theVerbShowsClaimsAndNoSignature() async {
    let run = Run()
    let status = await run.status("lint-jwt", input: "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6Im0ifQ.c2VjcmV0\n")
    #expect(status == 0)
    #expect(run.output.contains(#""HS256""#))
    #expect(run.output.contains("kidMissing"))
    #expect(!run.output.contains("c2VjcmV0"))
    #expect(run.calls.isEmpty)
  }

  @Test func theVerbFailsForWhatWouldBeRefused() async throws {
    let run = Run()
    #expect(await run.status("lint-jwt", "-o", "json", input: "eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6MX0.x-8") == 1)
    let findings = try JSONParser.parse(run.output)["findings"]?.arrayValue ?? []
    #expect(findings.first?["name"] == "externalIdNotString")
    #expect(await run.status("lint-jwt", input: "s3cret") == 1)
    #expect(!run.errors.contains("s3cret"))
  }
}
