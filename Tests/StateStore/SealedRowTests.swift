import Cryptography
import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// The data that authenticates the rows of push registrations, storage and the outbox.
@Suite struct SealedRowTests {
  private let uuid = InstanceUUID("8248833f-fb94-4c1a-bb20-a4dfd5906908")
  private let vault: Vault

  init() throws {
    vault = try Vault(
      master: SymmetricKey(), root: RootKey(SymmetricKey()), keyring: Keyring(), stateID: "state")
  }

  /// Returns what a released version authenticates a column with: the instance, a number, the tag, and more numbers.
  private func released(_ column: String, _ first: UInt64, _ tag: Data, _ rest: UInt64...) -> [UInt8] {
    var data = AdditionalData(column, of: uuid)
    data.append(first)
    data.append(field: tag)
    for number in rest { data.append(number) }
    return data.bytes
  }

  @Test("A row is authenticated with the same data as in a released version, in each table")
  func isAuthenticatedAsReleased() throws {
    let stored = StoredInstance(
      uuid: uuid, id: try #require(InstanceID("desk")), createdAt: Timestamp(secondsSince1970: 1), definition: [:],
      storageEpoch: 9)
    let instance = try OpenInstance(stored, slot: 4, vault: vault)

    let push = instance.row(.push, "id", numbers: [3])
    #expect(push.context("name").bytes == released("push.name", 9, push.tag, 3))
    #expect(push.context("value").bytes == released("push.value", 9, push.tag, 3))

    let value = instance.row(.storage, "id", numbers: [3, 2, 50])
    #expect(value.context("name").bytes == released("storage.name", 9, value.tag, 3, 2, 50))
    #expect(value.context("value").bytes == released("storage.value", 9, value.tag, 3, 2, 50))
    #expect(value.context().bytes == released("storage", 9, value.tag, 3, 2, 50), "in the digest")
    #expect(value.tag != push.tag, "tags of equal names differ between tables")

    let tag = vault.outboxTag(of: "id", in: uuid)
    let key = try DataKey(newFor: .outboxEntry(uuid, tag: tag), slot: 5, vault: vault)
    var anchor = Anchor()
    anchor.revision = 7
    let deadline = Timestamp(secondsSince1970: 1_800_000_000.5)
    let entry = SealedRow(of: uuid, tag: tag, key: key, anchor: anchor, deadline: deadline)
    let bits = deadline.secondsSince1970.bitPattern
    #expect(entry.context("name").bytes == released("outbox.name", 5, tag, bits, 7))
    #expect(entry.context("value").bytes == released("outbox.value", 5, tag, bits, 7))
  }
}
