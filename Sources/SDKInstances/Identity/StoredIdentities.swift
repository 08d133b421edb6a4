import JSONRPC

/// The stored form of an instance's identities: one record, or one for each service.
struct StoredIdentities {
  private var whole: IdentityRecord?
  private var services: [String: IdentityRecord] = [:]

  /// Decodes the stored form; `nil` holds no identity.
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

  /// Returns the stored form of these records: the only record if it has no service, otherwise an object by service.
  static func json(_ records: [(service: String?, record: IdentityRecord)]) throws -> JSON {
    if let only = records.first, only.service == nil { return try only.record.json() }
    var services = JSONObject()
    for (service, record) in records { services[service ?? ""] = try record.json() }
    return .object(["services": .object(services)])
  }
}
