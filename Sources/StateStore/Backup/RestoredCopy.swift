public import JSONRPC
public import SDKProtocol
import SQLite

/// The instances of a backup whose data was destroyed in it after it was made. A restore does not bring that back.
public struct BackupLosses: Sendable, Hashable {
  /// Instances with the same loss.
  public struct Instances: Sendable, Hashable, CustomStringConvertible {
    /// The most ids that are kept.
    static let limit = 20

    /// The number of instances.
    public var count = 0
    /// The first of their ids, at most 20.
    public var ids: [InstanceID] = []

    /// The ids, and the number of further instances.
    public var description: String {
      let names = ids.map(\.name).joined(separator: ", ")
      return count > ids.count ? "\(names) and \(count - ids.count) more" : names
    }
  }

  /// The instances whose user, values and push registrations are gone.
  public var wiped = Instances()
  /// The deleted instances.
  public var deleted = Instances()

  /// Creates the value of a backup without losses.
  public init() {}

  /// A sentence for the operator about each loss.
  public var sentences: [String] {
    let losses = [("whose user and values were destroyed", wiped), ("that were deleted", deleted)]
    return losses.filter { $0.1.count > 0 }.map { "Instances \($0.0) after the backup and did not come back: \($0.1)." }
  }
}

extension BackupLosses {
  /// Reads the losses of a backup.
  init(of db: Database) throws {
    wiped = try Instances(with: .wipe, db)
    deleted = try Instances(with: .deletion, db)
  }
}

extension BackupLosses.Instances {
  fileprivate init(with loss: MetaTable.Loss, _ db: Database) throws {
    let found = try MetaTable.instances(with: loss, atMost: Self.limit, db)
    (count, ids) = (found.count, found.ids.compactMap(InstanceID.init))
  }
}

/// A replacement for the identity of an instance in a restored backup.
public struct WithheldIdentity: Sendable {
  /// The identity without the parts that must not be used again.
  public var identity: JSON
  /// The events that report the replacement.
  public var events: [InstanceChange.NewEvent]

  /// Creates a replacement.
  public init(identity: JSON, events: [InstanceChange.NewEvent] = []) {
    self.identity = identity
    self.events = events
  }
}

/// A function that checks an instance of a restored backup, whose credentials may have been used up since the backup.
/// It returns the identity to use instead, or `nil` to keep the present one.
public typealias Withholding = @Sendable (_ definition: JSON, _ identity: JSON) -> WithheldIdentity?

/// The conversion of a restored backup into a new state. It is made once, in the transaction that first opens the
/// backup as the state.
enum RestoredCopy {
  /// Destroys what the notes of the replaced state name. Then gives every instance a new data key, a higher epoch, and a
  /// storage epoch that no client has seen.
  ///
  /// An instance whose storage does not open keeps its data key and its storage. Its credentials are withheld all the
  /// same. An instance that does not open itself stays as it is and is quarantined later.
  ///
  /// - Returns: the instances whose data was destroyed in the backup.
  static func settle(
    _ vault: Vault, _ withhold: Withholding, at time: Timestamp, _ db: Database
  ) throws -> BackupLosses {
    // A removal that was not finished may not have reached this backup. Its own notes concern other backups only.
    try BackupEditor.remove(RemovalTable.all(db), from: db, vault)
    let losses = try BackupLosses(of: db)
    let state = try StateLoader.load(db, vault: vault).state
    let storage = StorageReader(vault: vault)
    let step = UInt64.random(in: StoredInstance.leastRestoredStep..<1 << 32)
    let former = try RemovalTable.restrict(db)
    for instance in state.instances {
      let epoch = max(former[instance.uuid] ?? 0, instance.storageEpoch)
      let values = try? values(of: instance.uuid, storage, db)
      let withheld = instance.identity.flatMap { withhold(instance.definition, $0) }
      var parts: [InstanceChange.Part] = [.raiseEpoch(to: instance.epoch &+ 1)]
      if values != nil { parts.append(.wipe) }
      if let identity = withheld?.identity ?? instance.identity { parts.append(.identify(identity)) }
      if let values {
        parts += values.map { .putValue(key: $0.key, value: $0.value, limit: .max) }
        parts += instance.pushes.map { .putPush(id: $0.id, $0.value) }
      }
      let kind = KindName(instance.definition["kind"]?.stringValue ?? "")
      let change = InstanceChange(
        uuid: instance.uuid, id: instance.id, kind: kind, parts: parts, events: withheld?.events ?? [])
      _ = try ChangeWriter.apply(
        change, at: time, vault: vault, epochStep: epoch - instance.storageEpoch &+ step, db)
    }
    try MetaTable.setCopied(nil, db)
    try MetaTable.forgetLosses(db)
    return losses
  }

  private static func values(
    of uuid: InstanceUUID, _ storage: StorageReader, _ db: Database
  ) throws -> [(key: String, value: JSON)] {
    try storage.keys(of: uuid, db).compactMap { key, _ in
      try storage.value(of: uuid, key: key, db)?.value.map { (key, $0) }
    }
  }
}
