public import JSONRPC
public import SDKProtocol
public import StateStore

/// The identity of an instance in a restored backup. A single-use credential in it may have been spent since the backup
/// was made, and a vendor takes a second use for a theft.
public enum RestoredIdentity {
  private static let why = SDKError(
    .state, .rotationInterrupted,
    "The state was restored from a backup, and the refresh token in it may have been spent since; sign in again or answer "
      + "through the bridge.")

  /// Returns the identity without its single-use credential; `nil` if it has none.
  ///
  /// - Parameter adapter: the SDK of a definition.
  public static func withhold(
    definition: JSON, identity: JSON, at now: Timestamp, adapter: (Definition) throws -> any SDKAdapter
  ) -> WithheldIdentity? {
    guard let definition = try? JSONValueDecoder.decode(Definition.self, from: definition),
      let adapter = try? adapter(definition)
    else { return nil }
    var withheld = WithheldIdentity(identity: identity)
    if var services = identity["services"]?.objectValue {
      for member in services.members {
        guard let record = Self.withhold(member.value, adapter, at: now) else { continue }
        services[member.key] = .some(record)
        withheld.events.append(event(of: member.key))
      }
      withheld.identity = .object(["services": .object(services)])
    } else if let record = withhold(identity, adapter, at: now) {
      withheld.identity = record
      withheld.events.append(event(of: nil))
    }
    return withheld.events.isEmpty ? nil : withheld
  }

  private static func withhold(_ json: JSON, _ adapter: any SDKAdapter, at now: Timestamp) -> JSON? {
    guard var record = try? IdentityRecord.read(json), let renewal = adapter.capabilities.renewal,
      renewal.spends(record)
    else { return nil }
    record.kindState = renewal.kindState(restoring: record)
    record.isSpending = nil
    record.isRefused = true
    if record.phase == .authenticated || record.phase == .anonymous { record.phase = .reauthNeeded }
    record.lastError = Instance.LastError(reason: why.reason, message: why.message, at: now)
    return try? record.json()
  }

  private static func event(of service: String?) -> InstanceChange.NewEvent {
    .init(
      .authenticationFailed, service: service,
      data: ["reason": .string(why.reason.rawValue), "message": .string(why.message), "hints": []])
  }
}
