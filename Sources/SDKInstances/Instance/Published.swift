import JSONRPC
import SDKProtocol
import StateStore

/// The published state of an instance, which readers get without waiting. It is replaced as a whole when a change has
/// become durable.
struct Published: Sendable {
  var definition: Definition
  var storageEpoch: String
  /// The state of the whole instance; `nil` for a kind with services.
  var whole: PublishedService?
  /// The state of each service.
  var services: [String: PublishedService] = [:]
  var pending: [Instance.Pending] = []
  /// Whether the instance is in the registry, so that `StateIndex` has its state.
  var isListed = false
}

extension Published {
  /// Creates the part of an instance's state that readers see.
  init(_ core: InstanceCore) {
    self.init(definition: core.definition, storageEpoch: core.clientStorageEpoch)
    pending = core.deliveries.map { Instance.Pending($0) }
    for state in core.services {
      let identity = state.identity
      let isWithheld = core.adapter.capabilities.bans?.withheld(identity) != nil
      let credential = state.machine.mayHandOut && !isWithheld ? identity.credential : nil
      self[state.service] = PublishedService(
        state: state.machine.state, user: state.visibleUser, expiresAt: identity.credential?.expiresAt,
        lastError: identity.lastError, degraded: identity.degraded,
        isPrepared: state.isPrepared(core.adapter.capabilities), isKnown: !identity.isNobody,
        token: credential.map {
          PublishedToken(
            $0, http: core.adapter.http(for: $0, of: identity), trustsVendorClock: state.trustsVendorClock)
        })
    }
  }

  subscript(service: String?) -> PublishedService? {
    get {
      guard let service else { return whole }
      return services[service]
    }
    set {
      guard let service else {
        whole = newValue
        return
      }
      services[service] = newValue
    }
  }

  /// Returns the token for a call; `nil` if there is none, or if the call does not say which service it is about.
  func token(of service: String?) -> PublishedToken? {
    if service == nil, let token = whole?.token { return token }
    guard whole == nil, let name = service ?? impliedService else { return nil }
    return services[name]?.token
  }

  /// The service of calls that name none: the only one, else the only one that is set up; `nil` for none and several.
  private var impliedService: String? {
    if services.count == 1 { return services.keys.first }
    let known = services.filter(\.value.isKnown)
    return known.count == 1 ? known.keys.first : nil
  }

  /// Removes the tokens, until the state is published again.
  mutating func withholdTokens() {
    whole?.token = nil
    for name in services.keys { services[name]?.token = nil }
  }

  /// The state of the whole instance. Of several services, it is the state of the one closest to being signed in.
  var main: PublishedService {
    whole ?? services.sorted { $0.key < $1.key }.map(\.value).min { $0.rank < $1.rank } ?? PublishedService()
  }

  /// Whether any service needs a new login, or has replaced its user by a fallback. If the clock is set back, the
  /// credential may be valid again.
  var mayBeRevived: Bool {
    ([whole].compactMap { $0 } + services.values).contains { $0.state == .reauthNeeded || $0.degraded != nil }
  }

  /// Returns the service that a call is about: the one that it names, else the only one, else the only one that is set
  /// up. Returns `nil` for kinds without services.
  ///
  /// - Throws: `invalidParams` for an unknown name, or without a name if several services remain.
  func resolve(_ service: String?, of id: InstanceID) throws -> String? {
    let names = services.keys.sorted()
    if let service {
      if services[service] != nil { return service }
      guard !names.isEmpty else {
        throw RPCError.invalidParams("This kind of instance has no services; leave service out.", member: "service")
      }
      throw RPCError.invalidParams(
        "\(id) has no service of this name; it has \(names.joined(separator: ", ")).", member: "service",
        nearest: service.nearest(in: names))
    }
    if names.isEmpty { return nil }
    if let impliedService { return impliedService }
    throw RPCError.invalidParams(
      "\(id) has several services; give service as one of \(names.joined(separator: ", ")).", member: "service")
  }
}

/// The published state of a service.
struct PublishedService: Sendable {
  var state = InstanceState.noUser
  var user = User.none
  var expiresAt: Timestamp?
  var lastError: Instance.LastError?
  var degraded: String?
  /// Whether a user was set whom the vendor has not been asked about.
  var isPrepared = false
  /// Whether the identity holds a user, a credential or the kind's own state.
  var isKnown = false
  var token: PublishedToken?

  fileprivate var rank: Int {
    switch state {
    case .authenticated: 0
    case .refreshing: 1
    case .authenticating: 2
    case .reauthNeeded: 3
    case .locked: 4
    case .anonymous: 5
    case .loggedOut: 6
    case .noUser: 7
    case .quarantined: 8
    }
  }
}

/// A credential that may be issued, with its encoded answer. An object, because each call of an app copies it.
final class PublishedToken: Sendable {
  /// The expiry of the credential, in seconds since 1970; `nil` if unknown.
  let expiresAt: Double?
  /// The id of the credential.
  let tokenId: TokenID
  /// Whether the vendor has accepted the credential after its expiry by the daemon's clock.
  let trustsVendorClock: Bool
  private let head: [UInt8]
  private let http: [UInt8]

  init(_ credential: Credential, http: TokenHTTP, trustsVendorClock: Bool = false) {
    self.trustsVendorClock = trustsVendorClock
    expiresAt = credential.expiresAt?.secondsSince1970
    tokenId = credential.tokenId
    var writer = JSONWriter(reserving: 512)
    writer.write(raw: #"{"token":"#)
    writer.write(string: credential.token.reveal())
    writer.write(raw: #","tokenId":"#)
    writer.write(string: tokenId.description)
    writer.write(raw: #","tokenType":"#)
    writer.write(string: credential.type.rawValue)
    if let end = credential.expiresAt {
      writer.write(raw: #","expiresAt":"#)
      writer.write(string: end.description)
    }
    head = writer.bytes
    self.http = ((try? JSONValueEncoder.encode(http)).map(JSONWriter.bytes(of:))) ?? Array("{}".utf8)
  }

  /// Whether the vendor must decide about the expiry (`ServiceState.isDisputed`).
  func isDisputed(_ clock: VendorClock) -> Bool {
    guard clock.correction != 0, !trustsVendorClock, let expiresAt else { return false }
    return (expiresAt <= clock.now.secondsSince1970) != (expiresAt <= clock.machineNow.secondsSince1970)
  }

  /// Returns the result of `token.get` as JSON text; `nil` if the credential does not meet the demand.
  func answer(_ demand: TokenDemand, now: Timestamp) -> [UInt8]? {
    let ttl = expiresAt.map { $0 - now.secondsSince1970 }
    guard demand.isMet(by: ttl) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.count + 64 + (demand.http ? http.count + 8 : 0))
    bytes.append(contentsOf: head)
    if let ttl {
      Self.append(#","ttl":"#, to: &bytes)
      Self.append(seconds: ttl, to: &bytes)
    }
    Self.append(#","fromCache":true,"stale":false"#, to: &bytes)
    if demand.http {
      Self.append(#","http":"#, to: &bytes)
      bytes.append(contentsOf: http)
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Appends seconds as a JSON number, rounded down to milliseconds. This is faster than `JSONNumber`, which searches
  /// for the shortest text of a double.
  static func append(seconds: Double, to bytes: inout [UInt8]) {
    guard seconds >= 0, seconds < 1e12 else {
      return bytes.append(contentsOf: JSONNumber((seconds * 1000).rounded(.down) / 1000).text.utf8)
    }
    let (whole, thousandths) = Int64((seconds * 1000).rounded(.down)).quotientAndRemainder(dividingBy: 1000)
    // The digits of any `Int64`, the point, and three digits.
    var text = InlineArray<24, UInt8>(repeating: UInt8(ascii: "."))
    let point = 20
    var start = point
    func digit(_ number: Int64) -> UInt8 { UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10) }
    var rest = whole
    repeat {
      start -= 1
      text[start] = digit(rest)
      rest /= 10
    } while rest > 0
    text[point + 1] = digit(thousandths / 100)
    text[point + 2] = digit(thousandths / 10)
    text[point + 3] = digit(thousandths)
    let fraction = thousandths == 0 ? 0 : thousandths % 100 == 0 ? 2 : thousandths % 10 == 0 ? 3 : 4
    text.span.withUnsafeBufferPointer { bytes.append(contentsOf: $0[start..<(point + fraction)]) }
  }
}
