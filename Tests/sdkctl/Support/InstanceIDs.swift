import SDKProtocol

/// Names that the tests use.
enum InstanceIDs {
  static let kiosk = InstanceID("kiosk")
}
