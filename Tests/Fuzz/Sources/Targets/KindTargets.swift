import DelegateBridge
import JSONRPC
import SDKProtocol
import Synchronization

@testable import SDKInstances
@testable import SDKKinds
@testable import StateStore

extension FuzzTarget {
  /// The kinds: an instance signs in, renews, connects, registers and signs out at a vendor that answers with the
  /// input. See `ScriptedVendor` for its parts.
  static let kinds = kindSamples.map { kind($0.name, $0.kind, $0.settings, $0.answer) }

  /// Returns a JWT with a signature of no key.
  static func jwt(_ header: JSON, _ claims: JSON) -> JSON {
    let parts = [header, claims].map { Base64URL.encode(JSONWriter.bytes(of: $0)) }
    return .string(parts.joined(separator: ".") + ".c2lnbmF0dXJl")
  }

  private static func kind(
    _ name: String, _ kind: any SDKKind, _ settings: JSONObject, _ answer: JSONObject
  ) -> FuzzTarget {
    FuzzTarget(name) { input in
      let vendor = ScriptedVendor(input, kind: kind.settings, settings: settings)
      let settings = vendor.settings
      let services = AdapterServices(
        instance: "00000000-0000-0000-0000-000000000000", clock: Clock.wall, http: vendor, sockets: vendor,
        supplied: kind.settings.supplied(settings, allowing: nil, isOfAdmin: true))
      guard let adapter = try? kind.makeAdapter(settings: settings, services: services) else { return }
      let life = InstanceLife(adapter: adapter)
      let answer = BridgeAnswer(members: vendor.members["answer"] ?? answer)
      blocking { await life.run(answer) }
    }
  }
}

/// An instance, from sign-in to sign-out.
private final class InstanceLife: Sendable {
  private let adapter: any SDKAdapter
  private let identity: Mutex<IdentityRecord>

  init(adapter: any SDKAdapter) {
    self.adapter = adapter
    identity = Mutex(IdentityRecord(phase: .anonymous))
  }

  private var current: IdentityRecord { identity.withLock { $0 } }

  func run(_ answer: BridgeAnswer) async {
    let credential = await step { () throws(SDKError) in
      try self.adapter.check(answer, for: self.current, now: Clock.now)
    }
    if let users = adapter.capabilities.anonymousUsers {
      await accept { identity throws(SDKError) in try await users.makeAnonymousUser(from: identity) }
    }
    if var credential = credential ?? nil {
      credential.externalId = credential.externalId ?? "u-1"
      let shown = credential
      await accept { identity throws(SDKError) in try await self.adapter.signIn(shown, from: identity) }
      await accept { identity throws(SDKError) in try await self.adapter.renew(with: shown, of: identity) }
    }
    if let renewal = adapter.capabilities.renewal {
      await accept { identity throws(SDKError) in try await renewal.renewItself(identity) }
    }
    if let credential = current.credential {
      _ = await step { () throws(SDKError) in try await self.adapter.probe(credential, of: self.current) }
    }
    var connection: (any RealtimeConnection)?
    if let keeper = adapter.capabilities.connection {
      connection = await step { () throws(SDKError) in try await keeper.connect(self.current) }
    }
    await use(connection)
  }

  private func use(_ connection: (any RealtimeConnection)?) async {
    let capabilities = adapter.capabilities
    if let sessions = capabilities.sessions {
      _ = await step { () throws(SDKError) in try await sessions.open(self.current, on: connection) }
    }
    var push = PushRecord(
      id: "p", service: nil, address: Secret("address"), type: "fcm", locale: "en", user: current.user, subject: nil,
      createdAt: Clock.now)
    let registered = push
    if let registrar = capabilities.push {
      let vendorId = await step { () throws(SDKError) in
        try await registrar.register(registered, of: self.current, on: connection)
      }
      push.vendorId = vendorId ?? nil
    }
    require((push.vendorId ?? "").utf8.count <= 1024, "The vendor's id of a push registration is too long.")
    if let connection { await hear(connection) }
    if let cleanup = capabilities.cleanup {
      for var delivery in cleanup.farewell(to: current, pushes: [push], isInformed: false, now: Clock.now) {
        _ = await step { () throws(SDKError) in try await cleanup.deliver(&delivery) }
      }
    }
    _ = await step { () throws(SDKError) in
      try await self.adapter.signOut(self.current.credential, of: self.current, on: connection)
    }
    await connection?.close()
  }

  private func hear(_ connection: any RealtimeConnection) async {
    let end = await connection.run { news in
      switch news {
      case .connected, .settled, .mergedAway: break
      case .learned(let state, let credential):
        self.identity.withLock {
          $0.kindState.merge(state) { _, new in new }
          if let credential { $0.credential = credential }
        }
      case .merged(_, let user, let credential, let state):
        self.identity.withLock {
          $0.user = user
          $0.kindState = state
          if let credential { $0.credential = credential }
        }
      }
      Check.identity(self.current, of: self.adapter)
    }
    switch end {
    case .refused(let error), .lost(let error): Check.error(error)
    case .ended: break
    }
  }

  private func accept(_ body: @escaping @Sendable (IdentityRecord) async throws(SDKError) -> SignedIn) async {
    guard let result = await step({ () throws(SDKError) in try await body(self.current) }) else { return }
    if let failure = result.failure { Check.error(failure) }
    identity.withLock {
      $0.kindState = result.kindState
      guard result.failure == nil else { return }
      $0.phase = .authenticated
      $0.user = result.user
      $0.credential = result.credential
    }
    Check.identity(current, of: adapter)
    await result.connection?.close()
  }

  private func step<T: Sendable>(_ body: () async throws(SDKError) -> T) async -> T? {
    do throws(SDKError) {
      return try await body()
    } catch {
      Check.error(error)
      return nil
    }
  }
}
