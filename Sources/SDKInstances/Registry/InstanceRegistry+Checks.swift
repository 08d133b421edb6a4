import DelegateBridge
import JSONRPC
public import SDKProtocol
import StateStore

extension InstanceRegistry {
  /// Checks what an instance is asked to be, beyond the shape of its settings: who may set what.
  ///
  /// - Parameter former: the definition that is changed; `nil` for a new instance.
  /// - Throws: `accessDenied` for what takes admin, `invalidParams` with the member.
  public func check(_ definition: Definition, replacing former: Definition?, by peer: Peer) throws {
    guard let kind = kind(definition.kind) else { return }
    if definition.provider != former?.provider, access.isAdmin(peer),
      let refusal = try definition.providerConfiguration().flatMap({ environment.bridge.refusal(of: $0) })
    {
      throw refusal
    }
    if access.isAdmin(peer) { return }
    if definition.provider != former?.provider {
      throw SDKError.accessDenied("The provider is a program that the daemon runs; only an admin may set it.")
    }
    for name in kind.fileSettings where definition.settings[name] != former?.settings[name] {
      throw SDKError.accessDenied("The setting \(name) names a file; only an admin may set it.")
    }
    let hidden = kind.hiddenURLs(in: definition.settings)
    for name in kind.urlSettings.union(hidden.keys) where definition.settings[name] != former?.settings[name] {
      guard let url = hidden[name] ?? definition.settings[name]?.stringValue, let host = URLRule.parts(url)?.host
      else { continue }
      if lists(host, for: kind), !URLRule.isLoopback(url) { continue }
      throw SDKError.accessDenied(
        "The setting \(name) leads to \(host), which [network] allow does not list; only an admin may set it.")
    }
  }

  /// Whether `[network] allow`, or else the vendor's own domains, lists a host.
  private func lists(_ host: String, for kind: any SDKKind) -> Bool {
    (access.hosts ?? kind.vendorDomains).contains { host == $0 || host.hasSuffix(".\($0)") }
  }

  /// Checks a URL that a caller brings in a call.
  ///
  /// - Throws: `invalidAuthParameters`, `accessDenied`.
  public func checkSupplied(
    _ url: String, what: String, on instance: HostedInstance, by peer: Peer
  ) throws(SDKError) {
    guard let kind = kind(instance.kind), !access.isAdmin(peer) else { return try URLRule.check(url, setting: what) }
    try supplied(kind, instance.currentDefinition).check(url, what: what)
  }

  /// Where others than the definition may lead an instance.
  func supplied(_ kind: any SDKKind, _ definition: Definition) -> SuppliedURLRule {
    let own = kind.urlSettings.compactMap { definition.settings[$0]?.stringValue.flatMap(URLRule.parts)?.host }
    return SuppliedURLRule(domains: access.hosts ?? kind.vendorDomains, ownHosts: Set(own))
  }

  /// Whether whoever defined an instance may lead it anywhere.
  func isMadeByAdmin(_ definition: Definition) -> Bool {
    definition.source == .file || access.isAdmin(Peer(pid: 0, uid: definition.owner, gid: UInt32.max))
  }

  /// Checks that a peer may create an instance of this id.
  ///
  /// - Throws: `accessDenied` before existence is looked at; `tooManyInstances`.
  public func checkCreation(of id: InstanceID, by peer: Peer) throws(SDKError) {
    if access.isAdmin(peer) { return }
    guard let rule = access.createRule(for: peer, id: id) else {
      throw .accessDenied("No rule lets the caller create \(id); an admin can add one under [[access.create]].")
    }
    for (prefix, limit) in [(rule.prefix, rule.max), ("", maximumPerUid)]
    where count(ownedBy: peer.uid, prefix: prefix) >= limit {
      throw SDKError(
        .limit, .tooManyInstances, "The caller has \(limit) instances already; delete one first.", instance: id)
    }
  }
}

extension InstanceRegistry {
  /// Whether a peer may answer an instance's questions: it has control now.
  func mayDelegate(_ peer: Peer, for instance: HostedInstance) -> Bool {
    role(of: peer, on: instance).map { $0 >= .control } ?? false
  }

  /// Whether a peer gets the digest of a user's external id: observers do where the id is a secret.
  func conceals(_ instance: HostedInstance, from peer: Peer) -> Bool {
    guard kind(instance.kind)?.concealsExternalId == true else { return false }
    return (role(of: peer, on: instance) ?? .observe) < .use
  }

  /// Makes or changes an instance so that it is what its file says.
  ///
  /// - Throws: `instanceExists` when the id was made by a call.
  public func reconcile(_ id: InstanceID, _ definition: Definition) async throws {
    guard let present = hosted(id) else {
      _ = try await create(id, definition)
      return
    }
    guard present.currentDefinition.source == .file else {
      throw SDKError(
        .existing, .instanceExists, "\(id) was made by a call; delete it there or choose another id here.",
        instance: id)
    }
    if present.kind != definition.kind {
      try await delete(present)
      _ = try await create(id, definition)
      return
    }
    let backend = kind(definition.kind)?.backendSettings ?? []
    try await present.redefine { current in
      (
        definition, try adapter(for: definition, uuid: present.uuid), try definition.providerConfiguration(),
        isOtherBackend: backend.contains { definition.settings[$0] != current.settings[$0] }
      )
    }
  }
}
