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
