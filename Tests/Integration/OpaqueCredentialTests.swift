import Foundation
import JSONRPC
import Testing

/// What a provider prints in place of an opaque credential replaces nothing.
@Suite struct OpaqueCredentialTests {
  private static let outputs: [(format: String, output: String)] = [
    ("raw", "null"), ("raw", "Undefined"), ("raw", "\"quoted.token\""), ("raw", "<html>no</html>"),
    ("json", "{\"token\": \"null\"}"), ("json", "{\"token\": \"t\", \"signature\": \"false\"}"),
    ("oauth", "{\"access_token\": \"None\", \"token_type\": \"bearer\"}"),
    ("git-credential", "username=x\npassword=nil"),
  ]

  @Test("A word, a quotation mark or HTML is no token, whatever the format", arguments: outputs)
  func kept(format: String, output: String) throws {
    let desk = try EdnaDesk(settings: ["refresh": ["min_interval": 0]]) { desk in
      let file = try desk.write("output", output + "\n")
      var provider = try desk.provider("cat '\(file.path)'").objectValue ?? [:]
      provider["format"] = .string(format)
      return .object(provider)
    }
    try desk.authorize("u-1", auth: ["token": "good-token"])
    let refused = try desk.failure("token.refresh")
    #expect(refused.reason == "providerOutputInvalid", "\(refused)")
    #expect(try desk.call("token.get")["token"] == "good-token")
    try desk.crash()
    #expect(try desk.call("token.get")["token"] == "good-token")
    let given = try desk.failure("authorize", EdnaDesk.user("u-1", [:]).merged(with: ["auth": ["token": "null"]]))
    #expect(given.reason == "invalidAuthParameters" && given.data["member"] == "auth.token", "\(given)")
    #expect(try desk.call("token.get")["token"] == "good-token")
  }
}
