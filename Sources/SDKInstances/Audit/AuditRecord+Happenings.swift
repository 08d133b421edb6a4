import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore

extension AuditRecord {
  /// Creates the record of an event that reports a change of an identity or a definition. Returns `nil` for other
  /// events.
  init?(_ event: StoredEvent) {
    let kind: Kind
    switch event.type {
    case .userLoggedIn, .userLoggedOut, .loginSuperseded, .logoutFailed, .authenticationFailed,
      .anonymousUserCreated, .fellBackToAnonymous, .userMerged, .identityChanged, .identityWiped, .settingsUpdated:
      kind = .identity
    case .instanceCreated, .instanceUpdated, .instanceDeleted: kind = .definition
    case .tokenRefreshed, .refreshFailed, .networkError, .pushRegistered, .pushUnregistered, .pushOrphaned,
      .delegateAttached, .delegateDetached, .breakerOpened, .breakerClosed:
      return nil
    }
    let reason = event.type == .loginSuperseded ? Reason.superseded.rawValue : event.data["reason"]?.stringValue
    var fields: [AuditField: String] = [
      .instance: event.id.name, .kind: event.kind.name, .event: event.type.rawValue,
      .outcome: reason ?? Self.succeeded,
    ]
    fields[.service] = event.service
    fields[.operation] = event.operation
    fields[.cause] = event.data["cause"]?.stringValue
    fields[.changed] = event.data["changed"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ",")
    fields[.rules] = event.data["access"].map(JSONWriter.text)
    // Only the user's ids, which events may hold; never a name or an address.
    let user = event.data["user"]
    fields[.user] = user?["externalId"]?.stringValue ?? user?["id"]?.stringValue
    let why = [fields[.cause], fields[.changed], reason].compactMap { $0 }.joined(separator: ", ")
    self.init(kind, "\(event.id): \(event.type.rawValue)\(why.isEmpty ? "" : " (\(why))").", fields)
  }

  /// Creates a record of a token provider's run.
  init(_ run: EndedRun) {
    let outcome = run.failure?.rawValue ?? Self.succeeded
    var fields: [AuditField: String] = [
      .instance: run.instance.name, .kind: run.kind.name, .question: run.question.rawValue,
      .provider: run.isUnit ? "unit:\(run.program)" : run.program, .exit: run.exit, .outcome: outcome,
      .duration: Self.seconds(run.duration), .ownerUID: String(run.owner),
    ]
    fields[.service] = run.key.service
    self.init(
      .provider, "The token provider of \(run.instance) was asked \(run.question.rawValue) and ended with \(run.exit).",
      fields)
  }

  /// Creates the record of a state that a backup replaced before this opening or in it. Returns `nil` for other openings.
  init?(_ opening: StoreMeta) {
    guard let backup = opening.copiedAt ?? opening.repair?.backup.createdAt else { return nil }
    let isRepair = opening.repair != nil
    let why = isRepair ? "because the database was damaged" : "by a restore"
    self.init(
      .state, "The state was replaced by its backup of \(backup) \(why).",
      [.cause: isRepair ? "damage" : "restore", .backup: backup.description, .outcome: Self.succeeded])
  }

  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = Int(duration / .milliseconds(1))
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
