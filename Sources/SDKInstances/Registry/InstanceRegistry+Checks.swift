import DelegateBridge
import JSONRPC
public import SDKProtocol

extension InstanceRegistry {
  /// Checks what an instance is asked to be, beyond the shape of its settings: who may set what.
  ///
  /// - Parameter former: the definition that is changed; `nil` for a new instance.
  /// - Throws: `accessDenied` for what takes admin, `invalidParams` with the member.
  public func check(_ definition: Definition, replacing former: Definition?, by peer: Peer) throws {
    guard let kind = kind(definition.kind) else { return }
    if access.isAdmin(peer) { return }
    if definition.provider != former?.provider {
      throw SDKError.accessDenied("The provider is a program that the daemon runs; only an admin may set it.")
    }
    for name in kind.fileSettings where definition.settings[name] != former?.settings[name] {
      throw SDKError.accessDenied("The setting \(name) names a file; only an admin may set it.")
    }
    for name in kind.urlSettings where definition.settings[name] != former?.settings[name] {
      guard let url = definition.settings[name]?.stringValue, URLRule.isLoopback(url) else { continue }
      throw SDKError.accessDenied("The setting \(name) is a loopback URL; only an admin may set it.")
    }
  }

  /// Checks that a peer may create an instance of this id.
  ///
  /// - Throws: `accessDenied` before existence is looked at; `tooManyInstances`.
  public func checkCreation(of id: InstanceID, by peer: Peer) throws(SDKError) {
    if access.isAdmin(peer) { return }
    guard let rule = access.createRule(for: peer, id: id) else {
      throw .accessDenied("No rule lets the caller create \(id); an admin can add one under [[access.create]].")
    }
    let limit = min(rule.max, maximumPerUid)
    if count(ownedBy: peer.uid, prefix: rule.prefix) >= limit {
      throw SDKError(
        .limit, .tooManyInstances, "The caller has \(limit) instances already; delete one first.", instance: id)
    }
  }
}
