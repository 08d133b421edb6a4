import Concurrency
import SDKProtocol
import Synchronization

/// The state of a connection: its link, and the writes that its reads must see.
public final class ClientSession: Sendable {
  /// The connection, which notifications are sent on.
  public let link: any ClientLink
  private let writes = Mutex<[InstanceID: [Promise<Void>]]>([:])

  /// A session over a link.
  public init(link: any ClientLink) { self.link = link }

  /// The identity of the session for subscriptions.
  var key: ObjectIdentifier { ObjectIdentifier(self) }

  /// Registers a write that later reads on this connection must see. When it has ended, call `endWrite` with the
  /// returned promise.
  func beginWrite(_ instance: InstanceID) -> Promise<Void> {
    let outcome = Promise<Void>()
    writes.withLock { $0[instance, default: []].append(outcome) }
    return outcome
  }

  func endWrite(_ instance: InstanceID, _ outcome: Promise<Void>) {
    writes.withLock { writes in
      writes[instance]?.removeAll { $0 === outcome }
      if writes[instance]?.isEmpty == true { writes[instance] = nil }
    }
    outcome.resolve(.success(()))
  }

  /// Returns the writes on an instance that have not ended; for `nil`, those on all instances.
  func pendingWrites(_ instance: InstanceID?) -> [Promise<Void>] {
    writes.withLock { writes in
      guard let instance else { return writes.values.flatMap { $0 } }
      return writes[instance] ?? []
    }
  }
}
