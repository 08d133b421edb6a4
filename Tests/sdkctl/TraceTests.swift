import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

/// `--trace`: the calls on standard error.
struct TraceTests {
  private let run = Run()

  @Test("Each call and its result is a line, without the token")
  func calls() async throws {
    _ = await run.status("token", "kiosk", "--http", "--trace") { _, _ in Samples.token }
    let lines = run.errors.split(separator: "\n")
    #expect(
      lines.first == #"→ {"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"kiosk","http":true}}"#)
    #expect(lines.last?.hasPrefix("← ") == true && lines.last?.contains("0011223344556677") == true)
    #expect(!run.errors.contains("s3cret"))
    #expect(run.output.contains("s3cret"), "the output stays as it is")
  }

  @Test("What a kind's own method takes is masked, and so are secrets in settings")
  func kindMethods() {
    let trace = Trace()
    let login = trace.request(
      1, "chatCenter.authorize", ["instance": "d", "user": ["identifier": "s3cret"], "wait": true])
    #expect(!login.contains("s3cret") && login.contains(#""wait":true"#))
    // Its only member is named in a schema of params, and not of a shape.
    #expect(trace.masked(["identityToken": "s3cret"]) == ["identityToken": "‹secret›"])
    let made = trace.request(2, "instance.create", ["settings": ["client_secret": "s3cret", "app_id": "a"]])
    #expect(!made.contains("s3cret") && made.contains(#""app_id":"a""#))
    let session = trace.masked(["token": Samples.token, "user": ["id": "u"], "refresh_token": "s3cret"])
    #expect(!JSONWriter.text(of: session).contains("s3cret"))
    #expect(session["token"]?["tokenId"] == "0011223344556677")
  }

  @Test("Each member that is a secret in the contract is masked")
  func contract() throws {
    func isSecret(_ schema: JSON) -> Bool {
      schema["format"] == "password" || schema["$ref"] == "#/components/schemas/JWT"
        || schema["additionalProperties"]?["format"] == "password"
    }
    let shapes = try #require(ExplainTests.document()["components"]?["schemas"]?.objectValue)
    let members = Set(
      shapes.members.flatMap { shape in
        (shape.value["properties"]?.objectValue?.members ?? []).filter { isSecret($0.value) }.map(\.key)
      })
    #expect(members.count > 6, "\(members)")
    let trace = Trace()
    for member in members.sorted() {
      let shown = JSONWriter.text(of: trace.masked(.object(JSONObject([(member, "s3cret")]))))
      #expect(!shown.contains("s3cret"), "\(member)")
    }
  }

  @Test("A failure is shown with its code and data")
  func failures() async {
    let error = SDKError(.missing, .instanceNotFound, "No.").rpcError
    _ = await run.status("show", "kiosk", "--trace") { _, _ in throw error }
    #expect(
      run.errors.contains(#""error":{"code":-32002,"message":"No.","data":{"reason":"instanceNotFound""#),
      "\(run.errors)")
  }
}
