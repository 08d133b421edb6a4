import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The decisions about an identity before a request goes to the vendor (`rows.md`, S1, S2, S6, S7, S10).
@Suite struct SupportOfferTests {
  private let alice = SupportIdentity.unique(Secret("alice-unique-id-00"))
  private let bob = SupportIdentity.unique(Secret("bobby-unique-id-00"))

  private func offer(
    _ asked: SupportIdentity, over record: IdentityRecord, isUsable: Bool = true, refusing: Bool = false,
    _ settings: JSONObject = [:]
  ) throws -> CheckedCredential? {
    try SupportAdapter.at(SupportVendor(), settings).offer(
      asked, over: record, isUsable: isUsable, refusing: refusing)
  }

  private func set(_ identity: SupportIdentity) throws -> IdentityRecord {
    try SupportAdapter.at(SupportVendor()).set(identity)
  }

  @Test("The same identity is nothing to do while its token may be handed out, and keeps its guid otherwise")
  func same() throws {
    #expect(try offer(alice, over: set(alice)) == nil)
    #expect(try offer(alice, over: set(alice), refusing: true) == nil)
    let again = try offer(alice, over: set(alice), isUsable: false, refusing: true)
    #expect(again?.details[SupportIdentity.guidKey] == Secret("0f0e0d0c-guid"))
  }

  @Test("Another identity has another guid, or is refused")
  func another() async throws {
    let guid = try offer(bob, over: set(alice))?.details[SupportIdentity.guidKey]
    #expect(guid != nil)
    #expect(guid != Secret("0f0e0d0c-guid"))
    #expect(await reason { try offer(bob, over: set(alice), refusing: true) } == "identityChangeRefused")
    #expect(try offer(bob, over: .nobody(.noUser), refusing: true) != nil)
  }

  @Test("A name with another spelling of the same letter is another identity")
  func spelling() throws {
    let composed = SupportIdentity.anonymous(name: "\u{E9}ric"),
      decomposed = SupportIdentity.anonymous(name: "e\u{301}ric")
    #expect(try offer(composed, over: set(composed)) == nil)
    #expect(try offer(decomposed, over: set(composed)) != nil)
  }

  @Test("A unique id that the owner supplies is asked for, but not again while it is good")
  func supplied() async throws {
    let owner = SupportIdentity.supplied(nil)
    #expect(await reason { try offer(owner, over: .nobody(.noUser)) } == "OwnerNeeded")
    #expect(await reason { try offer(owner, over: set(alice)) } == "OwnerNeeded")
    #expect(await reason { try offer(owner, over: set(alice), refusing: true) } == "OwnerNeeded")
    #expect(await reason { try offer(owner, over: set(.anonymous()), refusing: true) } == "identityChangeRefused")
    let held = try set(.supplied(Secret("alice-unique-id-00")))
    #expect(try offer(owner, over: held) == nil)
    #expect(await reason { try offer(owner, over: held, isUsable: false) } == "OwnerNeeded")
    // The caller now gives the id itself. That is a change of the identity, but not of the user.
    #expect(try offer(alice, over: held)?.details["supplied"] == nil)
    // The owner gets no request for a unique id if the account excludes that type.
    #expect(try offer(owner, over: .nobody(.noUser), ["authentication": "anonymous"]) != nil)
  }

  @Test("Personal data is refused where coppa is set")
  func coppa() async throws {
    #expect(try offer(.anonymous(), over: .nobody(.noUser), ["coppa": true]) != nil)
    for identity in [SupportIdentity.anonymous(name: "A"), .anonymous(email: "a@b.c")] {
      #expect(
        await reason { try offer(identity, over: .nobody(.noUser), ["coppa": true]) } == "personalDataRefused")
      // Also when it was set before coppa was.
      #expect(await reason { try offer(identity, over: set(identity), ["coppa": true]) } == "personalDataRefused")
    }
  }

  @Test("The owner's answer holds a unique id, also as a plain token")
  func answers() async throws {
    let adapter = try SupportAdapter.at(SupportVendor(), ["strict_identifiers": true])
    let id = "alice-unique-id-00"
    #expect(try adapter.supplied(BridgeAnswer(members: ["uniqueId": .string(id)])).identity == .supplied(Secret(id)))
    #expect(try adapter.supplied(BridgeAnswer(token: Secret(id))).identity == .supplied(Secret(id)))
    let wrong: [JSONObject] = [[:], ["uniqueId": 7], ["uniqueId": ""], ["uniqueId": "weak"], ["proceed": true]]
    for members in wrong {
      #expect(
        await reason { try adapter.supplied(BridgeAnswer(members: members)) } == "providerOutputInvalid", "\(members)")
    }
  }

  @Test("Nobody can tell whether another unique id is another user")
  func users() throws {
    let adapter = try SupportAdapter.at(SupportVendor())
    #expect(adapter.isSameUser(try adapter.offered(alice), as: try set(alice)) == true)
    #expect(adapter.isSameUser(try adapter.offered(bob), as: try set(alice)) == nil)
    #expect(adapter.isSameUser(try adapter.offered(alice), as: .nobody(.noUser)) == nil)
    #expect(!adapter.mayAsk(for: try set(alice)))
    #expect(adapter.mayAsk(for: try set(.supplied(Secret("x")))))
    #expect(!adapter.renewsItself(.nobody(.loggedOut)))
  }
}
