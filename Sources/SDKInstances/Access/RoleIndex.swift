import SDKProtocol
import Synchronization

/// The instances of the registry by the ids in their access rules, so that those of a caller are found without a look at
/// each. An instance is filed under each id under which its `RoleTable` files a rule, so a peer has a role only on
/// instances that are filed under one of the peer's ids.
final class RoleIndex: Sendable {
  /// An id in access rules.
  enum Principal: Sendable, Hashable {
    case everyone
    case uid(UInt32)
    case gid(UInt32)
    case unit(String)
    /// An application that a desktop has started.
    case application(String)

    /// Whether a peer's process must be looked up to find it.
    var isOfProcess: Bool {
      switch self {
      case .unit, .application: true
      case .everyone, .uid, .gid: false
      }
    }
  }

  private struct Contents {
    var instances: [Principal: Set<InstanceID>] = [:]
    /// The number of keys that are units or applications.
    var ofProcesses = 0
  }

  private let contents = Mutex(Contents())

  /// Files an instance by another table; `nil` for an instance that is not in the registry.
  func move(_ id: InstanceID, from former: RoleTable?, to table: RoleTable?) {
    let (old, new) = (former?.keys ?? [], table?.keys ?? [])
    guard old != new else { return }
    contents.withLock { contents in
      for key in old.subtracting(new) {
        contents.instances[key]?.remove(id)
        guard contents.instances[key]?.isEmpty == true else { continue }
        contents.instances[key] = nil
        if key.isOfProcess { contents.ofProcesses -= 1 }
      }
      for key in new.subtracting(old) {
        if key.isOfProcess, contents.instances[key] == nil { contents.ofProcesses += 1 }
        contents.instances[key, default: []].insert(id)
      }
    }
  }

  /// Returns the instances on which a peer may have a role, in no order; `nil` if there may be more than `limit`.
  func candidates(for peer: Peer, atMost limit: Int = .max) -> Set<InstanceID>? {
    var keys: Set<Principal> = [.everyone, .uid(peer.uid), .gid(peer.gid)]
    keys.formUnion(peer.groups.map { .gid($0) })
    // The process is looked up only if its unit matters, and not while the index is locked.
    if contents.withLock({ $0.ofProcesses > 0 }) { keys.formUnion(peer.process.principals) }
    return contents.withLock { contents in
      let found = keys.compactMap { contents.instances[$0] }
      guard found.reduce(0, { $0 + $1.count }) <= limit else { return nil }
      return found.reduce(into: []) { $0.formUnion($1) }
    }
  }

  /// Returns the instances with rules about a uid that meets a condition, in no order.
  func candidates(whereUid isMeant: (UInt32) -> Bool) -> Set<InstanceID> {
    let uids = contents.withLock { contents in
      contents.instances.keys.compactMap { if case .uid(let uid) = $0 { uid } else { nil } }
    }
    // Not while the index is locked, since a condition may look up names.
    let meant = uids.filter(isMeant)
    return contents.withLock { contents in
      meant.reduce(into: []) { $0.formUnion(contents.instances[.uid($1)] ?? []) }
    }
  }

  /// Adds all ids to a summary.
  func describe(in known: inout KnownPeers) {
    for key in contents.withLock({ Array($0.instances.keys) }) { known.add(key) }
  }
}

extension PeerProcess {
  /// The ids in access rules that the process has: its units, and the application as which a desktop has started it.
  var principals: [RoleIndex.Principal] {
    let found: [RoleIndex.Principal?] = [
      unit.map { .unit($0) }, userUnit.map { .unit($0.unit) }, userUnit?.application.map { .application($0) },
    ]
    return found.compactMap { $0 }
  }
}
