import Concurrency
import SDKProtocol
import Synchronization

/// A connection's own state: its link and the writes that its reads must see.
public final class ClientSession: Sendable {
  /// Where notifications go.
  public let link: any ClientLink
  private let writes = Mutex<[InstanceID: [Promise<Void>]]>([:])

  /// A session over a link.
  public init(link: any ClientLink) { self.link = link }

  /// Its identity for subscriptions.
  var key: ObjectIdentifier { ObjectIdentifier(self) }

  /// Notes a write that later reads on this connection must see; resolve the outcome when it has ended.
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

  /// The writes on an instance that have not ended; on any instance for `nil`.
  func pendingWrites(_ instance: InstanceID?) -> [Promise<Void>] {
    writes.withLock { writes in
      guard let instance else { return writes.values.flatMap { $0 } }
      return writes[instance] ?? []
    }
  }
}
