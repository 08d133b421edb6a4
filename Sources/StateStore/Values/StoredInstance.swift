public import JSONRPC
public import SDKProtocol

/// An instance as the store keeps it, with its identity, push registrations and outbox.
public struct StoredInstance: Sendable, Hashable {
  public var uuid: InstanceUUID
  public var id: InstanceID
  public var createdAt: Timestamp
  /// Kind, source, settings, provider, access, labels and owner: the data that a wipe keeps. Sealed.
  public var definition: JSON
  /// User, credential and the kind's own state: data that a wipe destroys. Sealed.
  public var identity: JSON?
  /// A number that every login, logout, identity change and wipe raises.
  public var epoch: UInt64
  /// A number that every wipe raises.
  public var storageEpoch: UInt64
  /// The push registrations, sorted by ID. A wipe destroys them.
  public var pushes: [StoredPush]
  /// The outbox entries, sorted by ID. A wipe keeps them.
  public var outbox: [StoredOutboxEntry]
  /// The services that have to be wiped, because that could not be stored before the restart. The name is empty for an
  /// instance without services.
  public var failedWipes: [String] = []

  /// Creates an instance.
  public init(
    uuid: InstanceUUID, id: InstanceID, createdAt: Timestamp, definition: JSON, identity: JSON? = nil,
    epoch: UInt64 = 0, storageEpoch: UInt64 = 0, pushes: [StoredPush] = [], outbox: [StoredOutboxEntry] = []
  ) {
    self.uuid = uuid
    self.id = id
    self.createdAt = createdAt
    self.definition = definition
    self.identity = identity
    self.epoch = epoch
    self.storageEpoch = storageEpoch
    self.pushes = pushes
    self.outbox = outbox
  }
}

extension StoredInstance {
  /// The storage epoch in the form that clients see. It never repeats, even when an instance is deleted and created
  /// again under its old name.
  public var clientStorageEpoch: String { uuid.clientStorageEpoch(storageEpoch) }
}

/// A wipe of a service that could not be stored.
struct FailedWipe: Hashable {
  /// The service; empty for an instance without services.
  let service: String
  /// The storage epoch that the wipe was to end; `nil` in a note of a former version.
  var storageEpoch: UInt64?

  /// Whether the wipe must still be made in a state with this storage epoch.
  ///
  /// A state with a higher one has stored a wipe since, and the note could not be cleared before a crash. The instance
  /// may have another user then. But a restored backup, with a far higher one, may have the user again.
  func isPending(at present: UInt64) -> Bool {
    guard let storageEpoch, storageEpoch < present else { return true }
    return present - storageEpoch >= StoredInstance.leastRestoredStep
  }
}

extension StoredInstance {
  /// The least number by which a restore raises a storage epoch: far more than the wipes of a state, so that storage
  /// epochs of several backups of one state do not collide.
  static let leastRestoredStep: UInt64 = 1 << 24

  /// Adds those of the noted wipes that must still be made.
  mutating func take(_ noted: [FailedWipe]) {
    failedWipes = noted.filter { $0.isPending(at: storageEpoch) }.map(\.service).sorted()
  }
}

/// A push registration as stored, part of its instance. It is sealed under the instance's data key and destroyed by a
/// wipe.
public struct StoredPush: Sendable, Hashable {
  /// The maximum number of registrations for one instance.
  public static let maximumCount = 64

  /// The ID under which the registration is written and deleted.
  public var id: String
  /// The content of the registration. Sealed.
  public var value: JSON
}

/// A pending delivery to the vendor, which outlives a wipe of its instance (`rows.md`, R3). It is sealed under a
/// key of its own, which is destroyed when the entry is deleted.
public struct StoredOutboxEntry: Sendable, Hashable {
  /// The maximum number of entries for one instance.
  public static let maximumCount = 256

  /// The ID under which the entry is written and deleted.
  public var id: String
  /// The action to perform, with the credential that it needs. Sealed.
  public var value: JSON
  /// The time at which the delivery is abandoned. The store keeps it in clear and does not act on it.
  public var deadline: Timestamp
}

/// The permanent ID of an instance. A new instance with the same name has another one.
public struct InstanceUUID: Sendable, Hashable, CustomStringConvertible {
  /// The UUID as text in lower case.
  public let description: String

  /// Creates the ID from the text of a UUID, without checking it.
  public init(_ text: String) { description = text }

  /// The key of the losses of all deleted instances without events, in ``EventPage/lost``.
  public static let anyDeleted = InstanceUUID("")
}

extension InstanceUUID {
  /// Returns a storage epoch in the form that clients see: the first eight digits of the UUID, a hyphen and the number.
  public func clientStorageEpoch(_ epoch: UInt64) -> String { "\(description.prefix(8))-\(epoch)" }

  /// Returns a new random UUID (version 4).
  public static func random() -> InstanceUUID {
    var generator = SystemRandomNumberGenerator()
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array("0123456789abcdef")
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append("-") }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return InstanceUUID(text)
  }
}
