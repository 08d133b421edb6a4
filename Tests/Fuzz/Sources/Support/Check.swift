import JSONRPC
import SDKInstances
import SDKProtocol

/// The clock of all runs: an input does the same at any time.
enum Clock {
  static let now = Timestamp(secondsSince1970: 1_800_000_000)
  static let wall = WallClock(now: { now }, random: { 0.5 })
}

/// Conditions on everything that the code makes of foreign bytes.
enum Check {
  /// An error is bounded, and its wait is one that can be waited for.
  static func error(_ error: SDKError) {
    let text = JSONWriter.bytes(of: error.rpcError.json)
    require(text.count <= 24 << 10, "An error has \(text.count) bytes: \(error.reason).")
    require((0...86_400).contains(error.retryAfter ?? 0), "An error says to wait \(error.retryAfter ?? 0) s.")
    require((try? JSONParser.parse(text)) != nil, "An error can't be read back.")
  }

  /// A user is bounded.
  static func user(_ user: User) {
    require((user.id ?? "").utf8.count <= 256, "A user id has \(user.id?.utf8.count ?? 0) bytes.")
    require((user.externalId ?? "").utf8.count <= 1024, "An external id is too long.")
    require(
      (user.name ?? "").utf8.count <= 512 && (user.email ?? "").utf8.count <= 512, "A name or e-mail is too long.")
  }

  /// An identity is the same after storing, and its credential can stand in a header.
  static func identity(_ identity: IdentityRecord, of adapter: any SDKAdapter) {
    user(identity.user)
    guard let json = try? JSONValueEncoder.encode(identity),
      let again = try? JSONValueDecoder.decode(IdentityRecord.self, from: json)
    else { fatalError("An identity can't be stored.") }
    // Times are kept to the millisecond.
    require((try? JSONValueEncoder.encode(again)) == json, "An identity is another one after storing.")
    for (name, value) in identity.kindState {
      require(value.reveal().utf8.count <= 64 << 10, "The kind keeps \(value.reveal().utf8.count) bytes of \(name).")
    }
    guard let credential = identity.credential else { return }
    require(credential.token.reveal().utf8.count <= 16_384, "A credential is too long.")
    for (name, value) in adapter.http(for: credential, of: identity).headers { header(name, value.reveal()) }
  }

  /// A header field is one line.
  static func header(_ name: String, _ value: String) {
    require(
      !value.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F },
      "The header field \(name) has a control character.")
  }
}
