public import JSONRPC
public import SDKProtocol

extension StoredInstance {
  /// The storage epoch in the form that clients see. It never repeats, even when an instance is deleted and created
  /// again under its old name.
  public var clientStorageEpoch: String { uuid.clientStorageEpoch(storageEpoch) }
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

/// The part of an identity that the store itself reads. An identity is one record with a `credential`, or has
/// `services` with a record for each name.
enum StoredIdentity {
  /// Returns the number of tokens that a wipe of this identity destroys: one for each record with a credential.
  static func tokenCount(in identity: JSON?) -> Int { tokenCount(in: identity, notKeptIn: nil) }

  /// Returns the number of tokens that a wipe of this identity destroys when the same change writes the identity
  /// `next`.
  ///
  /// A token does not count if `next` has the same credential for the same service. The credential of a record without
  /// `services` always counts.
  static func tokenCount(in identity: JSON?, notKeptIn next: JSON?) -> Int {
    guard let services = identity?["services"]?.objectValue else { return credential(of: identity) == nil ? 0 : 1 }
    return services.members.count { service in
      guard let credential = credential(of: service.value) else { return false }
      return Self.credential(of: next?["services"]?[service.key]) != credential
    }
  }

  private static func credential(of record: JSON?) -> JSON? {
    guard let credential = record?["credential"], !credential.isNull else { return nil }
    return credential
  }
}

extension CommitResult.Wiped {
  /// Returns the data of an `identityWiped` event: the given data with these counts and the storage epoch set.
  func data(over data: JSONObject, instance: InstanceUUID) -> JSONObject {
    var data = data
    data["storage"] = JSON(storage)
    data["pushes"] = JSON(pushes)
    data["tokens"] = JSON(tokens)
    data["storageEpoch"] = .string(instance.clientStorageEpoch(storageEpoch))
    return data
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

  /// Creates a push registration.
  public init(id: String, value: JSON) {
    self.id = id
    self.value = value
  }
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

  /// Creates an entry.
  public init(id: String, value: JSON, deadline: Timestamp) {
    self.id = id
    self.value = value
    self.deadline = deadline
  }
}
