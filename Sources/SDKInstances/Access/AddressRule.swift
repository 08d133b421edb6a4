/// Where a connection to a vendor may end, whatever the name in its URL resolves to (`protocol.md`, "Who may call").
public enum AddressRule: Sendable, Hashable, CaseIterable {
  /// At any address that is not link-local: an admin named the host.
  case anywhere
  /// At other machines only: a vendor, a provider or a caller who is no admin named the host.
  case outside
  /// On this machine only: the connection is not encrypted.
  case loopback

  /// Why a connection may not end at an address; `nil` if it may.
  public func refusal(of address: NetworkAddress) -> String? {
    switch (address.scope, self) {
    case (.linkLocal, _): "its name leads to a link-local address, which is refused always"
    case (.thisMachine, .outside): "its name leads to this machine, which only an admin may allow"
    case (.other, .loopback): "without TLS only addresses of this machine are taken, and its name leads to another"
    case (.thisMachine, .anywhere), (.thisMachine, .loopback), (.other, .anywhere), (.other, .outside): nil
    }
  }
}
