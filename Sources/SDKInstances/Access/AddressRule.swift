/// The addresses at which a connection to a vendor may end, after name resolution (`protocol.md`, "Who may call").
public enum AddressRule: Sendable, Hashable, CaseIterable {
  /// Any address that is not link-local, because an admin named the host.
  case anywhere
  /// Only addresses of other machines, because a vendor, a provider or a caller other than an admin named the host.
  case outside
  /// Only addresses of this machine, because the connection is not encrypted.
  case loopback

  /// Returns the reason why a connection may not end at an address; `nil` if it may.
  public func refusal(of address: NetworkAddress) -> String? {
    switch (address.scope, self) {
    case (.linkLocal, _): "its name leads to a link-local address, which is refused always"
    case (.thisMachine, .outside): "its name leads to this machine, which only an admin may allow"
    case (.other, .loopback): "without TLS only addresses of this machine are taken, and its name leads to another"
    case (.thisMachine, .anywhere), (.thisMachine, .loopback), (.other, .anywhere), (.other, .outside): nil
    }
  }
}
