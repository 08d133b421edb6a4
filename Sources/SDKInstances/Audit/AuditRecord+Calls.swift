import JSONRPC
import SDKProtocol

extension AuditRecord {
  /// Returns the record of a call whose method is audited.
  static func call(_ call: borrowing EndedCall, kind: KindName?) -> AuditRecord {
    let outcome = call.failure?.reason ?? succeeded
    var record = AuditRecord(
      .call, "\(call.caller) called \(call.what): \(outcome).", call.fields(kind: kind))
    record.fields[.outcome] = outcome
    return record
  }

  /// Returns the record of a credential that was issued to a caller.
  static func credential(
    _ credential: EndedCall.IssuedCredential, _ call: borrowing EndedCall, kind: KindName?
  ) -> AuditRecord {
    var record = AuditRecord(
      .credential, "\(call.caller) got credential \(credential.tokenId) by \(call.what).", call.fields(kind: kind))
    record.fields[.tokenId] = credential.tokenId.description
    record.fields[.service] = credential.service
    record.fields[.outcome] = succeeded
    return record
  }

  /// Returns the record of a refused call.
  static func refusal(_ error: RPCError, _ call: borrowing EndedCall, kind: KindName?) -> AuditRecord {
    var record = AuditRecord(
      .refusal, "\(call.caller) was refused \(call.what): \(error.reason).", call.fields(kind: kind))
    record.fields[.outcome] = error.reason
    return record
  }

  /// Returns this record with the number of occurrences since it was last written.
  func counted(_ count: Int) -> AuditRecord {
    var record = self
    record.fields[.count] = String(count)
    record.message = message.dropLast() + ", \(count) times more."
    return record
  }

  /// Removes the details in which the many refusals of a user differ, so that one record stands for all.
  mutating func generalize() {
    let uid = fields[.peerUID] ?? "?"
    let reason = fields[.outcome] ?? "?"
    fields = fields.filter { [.peerUID, .outcome].contains($0.key) }
    message = "uid \(uid) was refused many different calls: \(reason)."
  }
}

extension EndedCall {
  /// A description of the caller from data that the caller can't choose.
  fileprivate var caller: String {
    "uid \(peer.uid) (\(process.unit.map { "\($0), " } ?? "")pid \(peer.pid))"
  }

  fileprivate var what: String {
    guard let method else { return "a connection" }
    return instance.map { "\(method.name) of \($0)" } ?? method.name
  }

  /// The caller's process, looked up on first use. On an event loop it is never looked up: a process that is not known
  /// yet stays unknown.
  var process: PeerProcess { isImmediate ? peer.knownProcess ?? PeerProcess() : peer.process }

  /// Returns the fields for the caller, the method and the instance.
  fileprivate func fields(kind: KindName?) -> [AuditField: String] {
    let process = process
    var fields: [AuditField: String] = [.peerUID: String(peer.uid), .peerPID: String(peer.pid)]
    fields[.peerExe] = process.executable
    fields[.peerUnit] = process.unit
    fields[.peerUserUnit] = process.userUnit.map { "\($0.unit)@\($0.uid)" }
    fields[.method] = method?.name
    fields[.instance] = instance?.name
    fields[.kind] = kind?.name
    return fields
  }
}
