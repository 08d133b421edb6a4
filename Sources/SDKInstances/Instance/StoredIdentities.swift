import JSONRPC

/// The identities of an instance as the store keeps them: one record, or one for each service.
struct StoredIdentities {
  private var whole: IdentityRecord?
  private var services: [String: IdentityRecord] = [:]

  /// Reads what the store kept.
  init(_ json: JSON?) throws {
    guard let json else { return }
    if let records = json["services"]?.objectValue {
      for member in records.members { services[member.key] = try IdentityRecord.read(member.value) }
    } else {
      whole = try IdentityRecord.read(json)
    }
  }

  subscript(service: String?) -> IdentityRecord? {
    guard let service else { return whole }
    return services[service]
  }

  /// What the store is to keep of these records, by service.
  static func json(_ records: [(service: String?, record: IdentityRecord)]) throws -> JSON {
    if let only = records.first, only.service == nil { return try only.record.json() }
    var services = JSONObject()
    for (service, record) in records { services[service ?? ""] = try record.json() }
    return .object(["services": .object(services)])
  }
}
