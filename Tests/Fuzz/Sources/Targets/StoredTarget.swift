import Cryptography
import DelegateBridge
import Foundation
import JSONRPC
import SDKProtocol
import SQLite

@testable import SDKInstances
@testable import SDKKinds
@testable import StateStore

extension FuzzTarget {
  /// The contents of the state after unsealing: the definition, the identity, a delivery, and an event's head and data,
  /// one in each part.
  static let stored = FuzzTarget("stored") { input in
    let parts = input.parts.map { Data($0) } + [Data](repeating: Data(), count: 5)
    do {
      let sealed = try SealedState()
      if let instance = try sealed.instance(definition: parts[0], identity: parts[1]) { restore(instance) }
      if let delivery = StoredJSON.json(of: parts[2]) { deliver(delivery) }
      if let event = try sealed.event(head: parts[3], data: parts[4]) {
        require(
          JSONWriter.bytes(of: .object(event.data)).count <= max(EventData.maximumBytes, parts[4].count),
          "An event's data has grown.")
        var deleted = DeletedInstances()
        deleted.add(event, NoNames())
        require(deleted.bytes <= DeletedInstances.bytesPerEntry, "A deleted instance keeps \(deleted.bytes) bytes.")
      }
      require(
        EventRow.open(
          Row([.integer(1), .text("u"), .integer(0), .blob(Data(input.bytes))]), vault: sealed.vault) == nil,
        "Not sealed.")
    } catch let error as SealError {
      fatalError("Sealing fails: \(error.what)")
    } catch {
      // A definition that is not JSON.
    }
  }

  private static func restore(_ instance: StoredInstance) {
    guard let definition = try? JSONValueDecoder.decode(Definition.self, from: instance.definition) else { return }
    _ = try? definition.providerConfiguration()
    _ = definition.excess
    guard let kind = Kinds.all.first(where: { $0.name == definition.kind }),
      let adapter = try? kind.makeAdapter(settings: definition.settings, services: .offline)
    else { return }
    _ = kind.settings.hiddenURLs(definition.settings)
    guard let json = instance.identity, let identity = try? IdentityRecord.read(json) else { return }
    _ = adapter.endpoint(for: identity)
    let capabilities = adapter.capabilities
    _ = (identity.subject, adapter.mayAsk(for: identity), capabilities.renewal?.renewsItself(identity))
    _ = (capabilities.connection?.keepsConnection(for: identity), capabilities.bans?.hidden(identity))
    _ = (capabilities.bans?.withheld(identity), capabilities.sessions?.prefill(of: identity))
    _ = identity.standing(at: Clock.now)
    _ = RestoredIdentity.withhold(
      definition: instance.definition, identity: json, at: Clock.now, adapter: { _ in adapter })
    guard let cleanup = capabilities.cleanup else { return }
    for delivery in cleanup.farewell(to: identity, pushes: [], isInformed: false, now: Clock.now) {
      blocking {
        var delivery = delivery
        try? await cleanup.deliver(&delivery)
      }
    }
  }

  private static func deliver(_ json: JSON) {
    guard let delivery = try? JSONValueDecoder.decode(Delivery.self, from: json) else { return }
    let adapters = kindSamples.compactMap { try? $0.kind.makeAdapter(settings: $0.settings, services: .offline) }
    blocking {
      for adapter in adapters {
        var delivery = delivery
        try? await adapter.capabilities.cleanup?.deliver(&delivery)
      }
    }
  }
}

/// Rows that hold any text, sealed as the store seals them.
private struct SealedState {
  private static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
  private static let uuid = InstanceUUID("00000000-0000-0000-0000-000000000000")
  private static let shared: Result<Vault, StoreOpenError> = Result { () throws(StoreOpenError) in
    try Vault(
      master: key, root: RootKey(key),
      keyring: Keyring(cursors: key, outboxNames: key, events: [.init(first: 0, key: key)]), stateID: "state")
  }

  let vault: Vault

  init() throws { vault = try Self.shared.get() }

  func instance(definition: Data, identity: Data) throws -> StoredInstance? {
    guard let id = InstanceID("desk") else { return nil }
    let empty = StoredInstance(uuid: Self.uuid, id: id, createdAt: Clock.now, definition: [:])
    var open = try OpenInstance(empty, slot: 1, vault: vault)
    open.definition = definition
    open.identity = identity
    let row = Row([
      .text(Self.uuid.description), .text(id.name), .real(Clock.now.secondsSince1970), .integer(0), .integer(0),
      .integer(1), .blob(try open.sealedDefinition()), .blob(try open.sealedIdentity()), .blob(open.key.wrapped),
      .blob(try open.sealedAnchor()),
    ])
    guard let stored = InstanceRow(row) else { fatalError("A row can't be read.") }
    return try OpenInstance(opening: stored, pushes: [], vault: vault).stored
  }

  func event(head: Data, data: Data) throws -> StoredEvent? {
    var context = AdditionalData("event.payload", of: Self.uuid)
    context.append(1 as UInt64)
    context.append(Clock.now)
    let key = DerivedKey.derive(from: Self.key, purpose: "events 0")
    let payload = try Seal.seal(head + [0x0A] + data, under: key, context)
    let row = Row([
      .integer(1), .text(Self.uuid.description), .real(Clock.now.secondsSince1970), .blob(payload),
    ])
    return EventRow.open(row, vault: vault)
  }
}

/// A network on which nothing can be reached.
private struct Nowhere: HTTPSending, SocketOpening {
  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts { throw .network("offline") }
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket { throw .network("offline") }
}

extension AdapterServices {
  fileprivate static var offline: AdapterServices {
    AdapterServices(
      instance: "00000000-0000-0000-0000-000000000000", clock: Clock.wall, http: Nowhere(), sockets: Nowhere())
  }
}
