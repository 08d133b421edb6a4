import JSONRPC
import SDKProtocol
import Testing

struct SDKErrorTests {
  @Test func `Texts of vendors and peers in an error are bounded in bytes`() {
    let cluster = "a" + String(repeating: "\u{301}", count: 200_000)
    let error = SDKError(
      .vendor, .invalidAuth, "The vendor said \(cluster).", member: cluster, vendorCode: SentSecrets.none.text(cluster),
      vendorDescription: SentSecrets.none.text(cluster), hints: Array(repeating: cluster, count: 1000))
    #expect((1...128).contains(error.vendorCode?.text.utf8.count ?? 0))
    #expect((1...512).contains(error.vendorDescription?.text.utf8.count ?? 0))
    #expect(JSONWriter.bytes(of: error.rpcError.json).count < 16 << 10)
  }

  private static func id(_ name: String) throws -> InstanceID { try #require(InstanceID(name)) }

  /// The retryable reasons.
  private static let retryable: Set<String> = [
    "network", "timeout", "rateLimited", "serverError", "badResponse", "providerTimeout", "providerFailed",
    "providerBackoff",
    "rateLimit", "tooManyInFlight", "shuttingDown", "storeUnavailable",
  ]

  static let table: [(SDKError.Origin, code: Int, reasons: [String])] = [
    (.access, -32001, ["accessDenied"]), (.missing, -32002, ["instanceNotFound"]),
    (.existing, -32003, ["instanceExists"]),
    (
      .state, -32010,
      [
        "notAuthenticated", "reauthNeeded", "locked", "noIdentity", "userNotAuthorized", "rotationInterrupted",
        "superseded",
        "epochChanged", "wrongKind", "identityMismatch", "identityChangeRefused", "ownedByFile", "personalDataRefused",
      ]
    ),
    (
      .local, -32020,
      [
        "failedToDecodeJWT", "expiredJWT", "invalidJWTClaims", "invalidChannelKey", "invalidIdentifier",
        "weakIdentifier",
        "invalidAuthParameters", "authenticationSettingsError", "invalidName", "invalidEmail", "invalidAccessToken",
        "tokenHasExpired",
      ]
    ),
    (
      .vendor, -32021,
      [
        "invalidAuth", "expiredJWT", "agentNotAllowed", "invalidGrant", "invalidClient", "externalUserIdHasChanged",
        "invalidSharedSecret", "invalidAccountKey", "invalidAccessToken", "invalidName", "invalidEmail",
        "tokenHasExpired",
        "forbidden", "notFound",
      ]
    ),
    (.unreachable, -32030, ["network", "timeout", "rateLimited", "serverError", "badResponse"]),
    (
      .provider, -32040,
      [
        "noProvider", "providerNotAllowed", "providerTimeout", "providerFailed", "providerOutputInvalid",
        "providerTokenForOtherUser", "providerDenied", "providerBackoff",
      ]
    ),
    (
      .limit, -32050,
      [
        "rateLimit", "tooManyInFlight", "replyTooLarge", "tooManyInstances", "tooManySubscriptions", "storageFull",
        "shuttingDown",
      ]
    ),
    (.store, -32060, ["storeUnavailable", "keyMissing", "instanceQuarantined", "invalidConfiguration"]),
  ]

  @Test func `Every reason is in the table, and the table has no other`() {
    #expect(Set(Self.table.flatMap(\.reasons)) == Set(Reason.allCases.map(\.rawValue)))
  }

  @Test func `Each goes on the wire with its code, reason and whether to retry`() throws {
    for (origin, code, reasons) in Self.table {
      for name in reasons {
        let reason = try #require(Reason(rawValue: name))
        let error = SDKError(origin, reason, "It failed; try again.").rpcError
        #expect(error.code == code)
        #expect(error.message == "It failed; try again.")
        #expect(error.reason == name)
        #expect(error.isRetryable == Self.retryable.contains(name), "\(name)")
        #expect(error.data.keys == ["reason", "retryable"])
      }
    }
  }

  @Test func `What is known goes along`() throws {
    let error = SDKError(
      .vendor, .invalidAuth, "No.", instance: try Self.id("a"), member: "jwt", retryAfter: 1.00049,
      httpStatus: 401,
      vendorCode: SentSecrets.none.text(String(repeating: "c ", count: 250)),
      vendorDescription: SentSecrets.none.text(String(repeating: "d ", count: 2500)),
      hints: ["kid"])
    let data = error.rpcError.data
    #expect(data["instance"] == "a")
    #expect(data["member"] == "jwt")
    #expect(data["retryAfter"] == 1.001)
    #expect(data["httpStatus"] == 401)
    #expect(data["vendorCode"]?.stringValue?.count == 128)
    #expect(data["vendorDescription"]?.stringValue?.count == 512)
    #expect(data["hints"] == ["kid"])
    #expect(SDKError(.limit, .rateLimit, "", retryAfter: -3).rpcError.data["retryAfter"] == 0)
    #expect(error.about(try Self.id("b")).instance?.name == "b")
  }

  @Test func `A hidden and a missing instance differ in the name alone`() throws {
    let one = JSONWriter.text(of: SDKError.instanceNotFound(try Self.id("one")).rpcError.json)
    let other = JSONWriter.text(of: SDKError.instanceNotFound(try Self.id("other")).rpcError.json)
    #expect(one.replacing("one", with: "other") == other)
  }

  @Test func `The exit status is the table's`() {
    for (_, code, reasons) in Self.table {
      for name in reasons {
        let expected: Int32 =
          switch code {
          case -32001: 4
          case -32002: 5
          case -32010:
            ["notAuthenticated", "reauthNeeded", "locked", "noIdentity", "userNotAuthorized"].contains(name) ? 6 : 1
          case -32021: 6
          default: 1
          }
        #expect(ExitStatus.status(code: code, reason: name, isRetryable: false) == expected, "\(name)")
        #expect(ExitStatus.status(code: code, reason: name, isRetryable: true) == 75, "\(name)")
      }
    }
    for code in [-32700, -32600, -32601, -32602] {
      #expect(ExitStatus.status(code: code, reason: "", isRetryable: false) == 2)
    }
    #expect(ExitStatus.status(code: -32603, reason: "internalError", isRetryable: false) == 1)
    #expect(ExitStatus.status(code: -32800, reason: "cancelled", isRetryable: false) == 1)
    #expect(ExitStatus.status(code: -32040, reason: "unheard of", isRetryable: false) == 1)
  }
}
