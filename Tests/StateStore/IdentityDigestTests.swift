import SDKProtocol
import Testing

@testable import StateStore

/// The digests that replace the ids of users, because such ids are secrets.
@Suite struct IdentityDigestTests {
  private let one = InstanceUUID("11111111-0000-4000-8000-000000000000")
  private let other = InstanceUUID("22222222-0000-4000-8000-000000000000")

  @Test("A digest is that of one user, one instance and one state")
  func digests() {
    let digests = IdentityDigests()
    let digest = digests.digest(of: "+79123456789", in: one)
    #expect(digest.count == 16 && digest.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    #expect(digests.digest(of: "+79123456789", in: one) == digest)
    #expect(digests.digest(of: "+79123456788", in: one) != digest)
    #expect(digests.digest(of: "+79123456789", in: other) != digest)
    #expect(IdentityDigests().digest(of: "+79123456789", in: one) != digest)
    // Without a key, trying all numbers would find this one.
    #expect(digest != TokenID(Secret("+79123456789")).description)
  }
}
