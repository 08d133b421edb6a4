import SDKProtocol
import Testing

@testable import SDKKinds

/// The rules by which two identities are the same (`rows.md`, S6 to S8 and S10).
@Suite struct SupportIdentityTests {
  private static let one = Secret("a-unique-id-of-alice")
  private static let two = Secret("another-unique-id-00")

  private static let same: [(SupportIdentity, SupportIdentity)] = [
    (.anonymous(), .anonymous()), (.anonymous(name: ""), .anonymous(email: "")),
    (.anonymous(name: "A", email: "e"), .anonymous(name: "A", email: "e")), (.unique(one), .unique(one)),
    (.supplied(one), .supplied(two)), (.supplied(nil), .supplied(one)), (.supplied(one), .unique(one)),
  ]

  @Test("The same, both ways", arguments: same)
  func areTheSame(one: SupportIdentity, other: SupportIdentity) {
    #expect(one.isSame(as: other))
    #expect(other.isSame(as: one))
  }

  private static let different: [(SupportIdentity, SupportIdentity)] = [
    (.anonymous(), .anonymous(name: "A")), (.anonymous(name: "A"), .anonymous(name: "a")),
    (.anonymous(name: "A"), .anonymous(name: "A ")), (.anonymous(name: "A"), .anonymous(email: "A")),
    (.unique(one), .unique(two)), (.anonymous(), .unique(one)), (.anonymous(), .supplied(nil)),
    (.supplied(nil), .unique(one)), (.supplied(two), .unique(one)),
  ]

  @Test("Different, both ways", arguments: different)
  func areDifferent(one: SupportIdentity, other: SupportIdentity) {
    #expect(!one.isSame(as: other))
    #expect(!other.isSame(as: one))
  }

  @Test("What is stored is read again", arguments: same.map(\.0) + different.map(\.1))
  func storing(identity: SupportIdentity) {
    let state = identity.state(guid: Secret("guid"))
    #expect(SupportIdentity(state) == identity)
    #expect(state[SupportIdentity.guidKey] == Secret("guid"))
  }

  @Test("What only remembers the account is no identity")
  func remainder() {
    #expect(SupportIdentity([:]) == nil)
    #expect(SupportIdentity([SupportIdentity.authenticationKey: Secret("jwt")]) == nil)
  }
}
