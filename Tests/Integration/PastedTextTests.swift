import Foundation
import Glibc
import JSONRPC
import Testing

/// Byte order marks, quotation marks and the word `Bearer` around what people paste and programs print.
@Suite struct PastedTextTests {
  /// Forms of a text, with `%` in its place.
  static let forms = ["\u{FEFF}%", "\"%\"", "'%'", "Bearer %", "Authorization: Bearer %", "\u{FEFF}\"Bearer %\""]

  @Test("A pasted JWT is taken by login, and lint-jwt names what is around it", arguments: forms)
  func login(_ form: String) throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let jwt = try Vendor.mint("alice")
    let pasted = form.replacing("%", with: jwt) + "\r\n"
    let login = try desk.sdkctl(["login", "desk"], input: pasted)
    #expect(login.status == 0, "\(login.error)")
    #expect(try desk.sdkctl(["token", "desk"]).output == jwt + "\n")
    let lint = try desk.sdkctl(["lint-jwt"], input: pasted)
    #expect(lint.status == 0 && lint.output.contains("around the JWT"), "\(lint.output)\(lint.error)")
    #expect(try !desk.sdkctl(["lint-jwt"], input: jwt).output.contains("around the JWT"))
  }

  @Test("A provider's JWT is taken; its opaque token is refused with the name of what is around it", arguments: forms)
  func providers(_ form: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let jwt = try Vendor.mint("alice")
    try desk.write("jwt", form.replacing("%", with: jwt))
    try desk.create("desk", on: line, provider: try desk.provider("cat '\(desk.folder.path)/jwt'"))
    _ = try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 600))])
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue == jwt)

    let edna = try EdnaDesk { desk in
      try desk.write("opaque", form.replacing("%", with: "s3cret"))
      return try desk.provider("cat '\(desk.folder.path)/opaque'")
    }
    try edna.authorize("u-1", auth: ["token": "t-1"])
    let refused = try edna.failure("token.refresh")
    #expect(refused.reason == "providerOutputInvalid" && refused.message.contains("around the token"), "\(refused)")
    #expect(!refused.message.contains("s3cret"))
    #expect(try edna.call("token.get")["token"] == "t-1")
  }

  @Test("A byte order mark before JSON is skipped: a provider's, a message's, a vendor's, and that of a file")
  func marks() throws {
    let mark = "\u{FEFF}"
    let desk = try Desk.open()
    try desk.write("answer", mark + #"{"token": "\#(try Vendor.mint("alice"))"}"#)
    let raw = try desk.connect()
    try desk.create("desk", on: raw, provider: try desk.provider("cat '\(desk.folder.path)/answer'"))
    let jwt = try Vendor.mint("alice", ttl: 600)
    try desk.vendor.script([
      "route": "POST /v2/apps/*/login", "times": 1, "status": 200,
      "body": .string(mark + #"{"appUser": {"_id": "5f0000000000000000000009", "userId": "alice"}}"#),
    ])
    _ = try raw.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    #expect(try raw.call("instance.currentUser", ["instance": "desk"])["id"] == "5f0000000000000000000009")
    #expect(try raw.call("token.refresh", ["instance": "desk"])["fromCache"] == false)
    let request = try desk.write("request", mark + #"{"jsonrpc":"2.0","id":1,"method":"daemon.info"}"# + "\n")
    let sent = try desk.sdkctl(["stdio-bridge"], input: String(contentsOf: request, encoding: .utf8))
    #expect(sent.output.contains("\"result\""), "\(sent.output)\(sent.error)")
    let settings = try desk.write(
      "settings.json",
      mark + JSONWriter.text(of: ["base_url": .string(try desk.vendor.messaging), "app_id": .string(Desk.app)]))
    let made = try desk.sdkctl(["create", "two", "--kind", "zendesk.messaging", "--settings-file", settings.path])
    #expect(made.status == 0, "\(made.error)")
  }

  @Test("UTF-16 is named wherever a text enters")
  func utf16() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    func utf16(_ text: String) -> Data { Data([0xFF, 0xFE]) + (text.data(using: .utf16LittleEndian) ?? Data()) }
    let file = desk.folder.appendingPathComponent("file")
    try utf16(try Vendor.mint("alice")).write(to: file)
    for words in [["login", "desk", "--file", file.path], ["lint-jwt", file.path]] {
      let run = try desk.sdkctl(words)
      #expect(run.status == 1 && run.error.contains("is UTF-16; save it as UTF-8"), "\(words): \(run.error)")
    }
    try utf16("[limits]\n").write(to: file)
    let check = try desk.sdkctl(["config", "check", file.path])
    #expect(check.status == 78 && check.output.contains("is UTF-16; save it as UTF-8"), "\(check.output)\(check.error)")
  }

  @Test("What is around the secret in a file is named before the vendor gets it", arguments: forms)
  func secrets(_ form: String) throws {
    let desk = try Desk.open()
    let secret = try desk.write("secret", form.replacing("%", with: "s3cret") + "\n", mode: 0o600)
    let text = """
      id = "cases"
      kind = "salesforce.chat"
      [settings]
      client_id = "app"
      client_secret = { file = "\(secret.path)" }
      """
    try desk.write("sdkd.toml", "")
    try desk.write("instances.d/cases.toml", text, mode: 0o600)
    let check = try desk.sdkctl(["config", "check", desk.configuration.path])
    #expect(check.status == 78, "\(check.output)\(check.error)")
    #expect((check.output + check.error).contains("around the secret; write the secret alone"), "\(check.error)")
    #expect(!(check.output + check.error).contains("s3cret"))
  }
}
