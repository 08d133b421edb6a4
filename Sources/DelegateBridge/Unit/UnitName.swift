/// The name of a token provider that is a systemd unit: `NAME` in `sdkd-provider-NAME.socket`.
enum UnitName {
  /// The longest name, in bytes: the socket's path must fit into an address.
  static let longest = 64

  /// Returns why a name is invalid, as a sentence; `nil` if it is valid.
  static func problem(of name: String) -> String? {
    let isValid =
      !name.isEmpty && name.utf8.count <= longest
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || [UInt8](":_.-".utf8).contains(byte)
      }
    if isValid { return nil }
    return
      "The unit is the NAME of sdkd-provider-NAME.socket: at most \(longest) letters, digits, \":\", \"_\", \".\", "
      + "\"-\"."
  }

  /// Returns a pattern for the service units that systemd creates, one per question.
  static func serviceUnits(_ name: String) -> String { "sdkd-provider-\(name)@*" }

  /// Returns the name of the socket unit.
  static func socketUnit(_ name: String) -> String { "sdkd-provider-\(name).socket" }
}
