import SDKProtocol

/// The instance IDs that the tests use.
enum InstanceIDs {
  static let kiosk = InstanceID("kiosk")
}
