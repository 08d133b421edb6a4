public import DelegateBridge
import SDKProtocol
import StateStore

/// The connections that are attached with `delegate.attach` (sdkd-protocol(7)).
public typealias Delegates = DelegateTable<ClientSession>

extension InstanceRegistry: DelegatedInstances {
  public func mayAnswer(_ connection: ClientSession, for instance: DelegatedInstance) -> Bool {
    guard let instance = hosted(instance) else { return false }
    return role(of: connection.link.peer, on: instance).map { $0 >= .control } ?? false
  }

  public func delegateChanged(_ instance: DelegatedInstance, isAttached: Bool) async {
    await hosted(instance)?.delegateChanged(isAttached: isAttached)
  }

  private func hosted(_ delegated: DelegatedInstance) -> HostedInstance? {
    hosted(delegated.id).flatMap { $0.delegated == delegated ? $0 : nil }
  }
}

extension HostedInstance {
  /// The instance, as delegates know it.
  var delegated: DelegatedInstance { DelegatedInstance(id: id, uuid: uuid.description) }
}
