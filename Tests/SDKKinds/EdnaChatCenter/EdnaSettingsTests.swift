import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The settings of a Chat Center instance: valid ones, and the errors of invalid ones.
@Suite struct EdnaSettingsTests {
  private static let urls: JSONObject = ["rest_url": "https://cc.example", "ws_url": "wss://cc.example/ws"]
  private static let key = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlnsY3wH0965A90T0rtVz
    PcZj5lmZP002+cqTCU9pOF/OPwEi/DXyn8oFn80CYACyYbv2Q9iU/jLkYScKJxVN
    axCf+Hn3rpFL36cZRgyF3Me3UNF5FpxEO5ksPO5/lQT9M1ZJVNTB1yFcmvalYmSQ
    pc4jEa9PRtMKybMZnXoapmEWk2ZTCeGRzer+Cqzlul34vx1yIDgW5SkIDisvTsMs
    FCrxcSXfneG+Bg477LMwTVzCsjZU39IxFS9+TBFYmr8eRqUUJs/BsZNOKfM1Nxdc
    R+Pfn4huSsOk/oObYkYlMF0lss+xGcuf2I0y8no2ffC1Y2mvpJnTXoDngfaT1yVq
    owIDAQAB
    -----END PUBLIC KEY-----
    """

  private func settings(_ more: JSONObject) throws(RPCError) -> EdnaSettings {
    try Settings.decode(EdnaSettings.self, from: Self.urls.merged(with: more), at: "settings")
  }

  private func member(_ more: JSONObject) -> String? {
    do throws(RPCError) {
      _ = try settings(more)
      return nil
    } catch {
      return error.data["member"]?.stringValue
    }
  }

  @Test func `Good ones`() throws {
    let plain = try settings(["rest_url": "https://cc.example/api//"])
    #expect(plain.restURL == "https://cc.example/api")
    #expect(plain.common.planner.mode == .lazy)
    #expect(plain.cipher == nil)
    #expect(member(["rest_url": "http://127.0.0.1:1/ed", "ws_url": "ws://127.0.0.1:1/ed/ws"]) == nil)
    #expect(member(["on_switch": "logout", "retry_logout": true, "persist_credentials": true]) == nil)
    let encrypting = try settings(["identifier_public_key": .string(Self.key)])
    #expect(encrypting.cipher?.capacity == 190)
    let former = try settings([
      "identifier_public_key": .string(Self.key), "identifier_encryption": "rsa-pkcs1",
    ])
    #expect(former.cipher?.capacity == 245)
    #expect(former.cipher?.name != encrypting.cipher?.name)
  }

  private static let mistakes: [(settings: JSONObject, expected: String)] = [
    (["rest_url": .null], "settings.rest_url"), (["ws_url": .null], "settings.ws_url"),
    (["rest_url": "http://cc.example"], "settings.rest_url"), (["ws_url": "https://cc.example"], "settings.ws_url"),
    (["ws_url": "ws://cc.example"], "settings.ws_url"), (["provider_uid": ""], "settings.provider_uid"),
    (["identifier_public_key": "nonsense"], "settings.identifier_public_key"),
    (["identifier_encryption": "rsa-pkcs1"], "settings.identifier_encryption"),
    (["identifier_encryption": "rot13"], "settings.identifier_encryption"),
    (["retry_logout": true, "persist_credentials": false], "settings.retry_logout"),
    (["on_switch": "wipe"], "settings.on_switch"), (["provider_id": "x"], "settings.provider_id"),
  ]

  @Test(arguments: mistakes)
  func `Mistakes are named`(settings: JSONObject, expected: String) {
    #expect(member(settings) == expected)
  }

  @Test func `An identifier is another text each time it is encrypted, and too long a one is refused`() throws {
    let cipher = try #require(try settings(["identifier_public_key": .string(Self.key)]).cipher)
    let first = try cipher.encrypt("u-1")
    #expect(try cipher.encrypt("u-1") != first)
    #expect(first.reveal().count == 344)
    _ = try cipher.encrypt(Secret(String(repeating: "x", count: cipher.capacity)))
    do throws(SDKError) {
      _ = try cipher.encrypt(Secret(String(repeating: "x", count: cipher.capacity + 1)))
      #expect(Bool(false), "taken")
    } catch {
      #expect(error.reason == .invalidIdentifier)
    }
  }
}
