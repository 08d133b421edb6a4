import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// `ChatAuth`: its update by a response of the bridge, and its form in a request.
@Suite struct EdnaAuthTests {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)

  private func auth(_ json: JSON) throws -> EdnaAuth { try JSONValueDecoder.decode(EdnaAuth.self, from: json) }

  private func state(_ json: JSON, address: String? = "d-1") throws -> EdnaState {
    var state = EdnaState()
    state.clientId = "u-1"
    state.deviceAddress = address
    state.auth = try auth(json)
    return state
  }

  @Test func `An empty text is none, and what is kept is what was given`() throws {
    #expect(try auth(["token": "", "scheme": "", "signature": ""]) == EdnaAuth())
    let full = try auth(["token": "t", "scheme": "s", "method": "cookies", "signature": "g", "isEncrypted": true])
    #expect(EdnaAuth(stored: full.stored) == full)
    #expect(EdnaAuth(stored: nil) == EdnaAuth())
    #expect(EdnaAuth(stored: Secret("damaged")) == EdnaAuth())
    // Former versions stored texts with any number of combining marks, which must still be read back.
    let marked = try auth(["token": .string("t" + String(repeating: "\u{301}", count: 129))])
    #expect(EdnaAuth(stored: marked.stored).token == marked.token)
  }

  @Test func `An answer of the bridge replaces what it names and keeps the rest`() throws {
    let former = try auth(["token": "t", "scheme": "s", "method": "cookies", "signature": "g"])
    #expect(
      try former.answered(["token": "t2"], now: now)
        == auth(["token": "t2", "scheme": "s", "method": "cookies", "signature": "g"]))
    #expect(
      try former.answered(["token": "t2", "scheme": "", "signature": "", "isEncrypted": true], now: now)
        == auth(["token": "t2", "method": "cookies", "isEncrypted": true]))
    #expect(
      try former.answered(["signature": "g2"], now: now)
        == auth(["token": "t", "scheme": "s", "method": "cookies", "signature": "g2"]))
  }

  @Test(
    arguments: [
      [:], ["scheme": "s"], ["token": 1], ["token": "a\r\nb"], ["token": "a;b"], ["token": "é"],
      ["token": "t", "scheme": "é"], ["signature": "é", "isEncrypted": true],
    ] as [JSONObject])
  func `An answer that proves nothing or can't be sent is the provider's fault`(answer: JSONObject) throws {
    let former = try auth(["method": "cookies"])
    do throws(SDKError) {
      _ = try former.answered(answer, now: now)
      #expect(Bool(false), "taken")
    } catch {
      #expect(error.reason == .providerOutputInvalid)
    }
  }

  @Test func `Headers, cookies and the client token are those of the vendor`() throws {
    let headers = EdnaHeaders(try state(["token": "t", "scheme": "s"]))
    #expect(
      headers.fields.map(\.name)
        == ["X-Ext-Client-ID", "X-Client-Token", "X-Header-Encoding", "Authorization", "X-Auth-Schema"])
    #expect(headers.fields.map(\.value) == ["u-1", "d-1%3Au-1", "url", "t", "s"])
    #expect(headers.http.cookies.isEmpty)
    let cookies = EdnaHeaders(try state(["token": "t", "scheme": "s", "method": "cookies", "signature": "g/+ ü"]))
    #expect(cookies.fields.last?.value == "Authorization=t; X-Auth-Schema=s")
    #expect(cookies.http.headers["X-Client-Token"] == Secret("g%2F%2B%20%C3%BC%3Au-1"))
    #expect(cookies.http.headers["Authorization"] == nil)
    #expect(cookies.http.cookies == ["Authorization": "t", "X-Auth-Schema": "s"])
    #expect(EdnaHeaders(try state(["scheme": "s", "method": "cookies"])).http.cookies.isEmpty)
    // As the vendor's Android SDK sends an encrypted client id.
    let encrypted = EdnaHeaders(try state(["signature": "g/+", "isEncrypted": true]))
    #expect(encrypted.headers.map(\.name) == ["X-Ext-Client-ID", "X-Client-Token"])
    #expect(encrypted.headers.last?.value == "g/+:u-1")
    // Without a signature or a device address, there is no client token that proves the client id.
    #expect(EdnaHeaders(try state([:], address: nil)).fields.map(\.name) == ["X-Ext-Client-ID"])
  }
}
