extension PushEndpoint {
  /// Returns an ellipsis and the last four characters of an address, which distinguish devices. An address of at most
  /// eight characters gives the ellipsis alone.
  public static func masked(_ address: Secret) -> String {
    let text = address.reveal()
    return text.count > 8 ? "…\(text.suffix(4))" : "…"
  }
}
