import JSONRPC
import SDKProtocol
import StateStore

/// What an instance shows to readers: replaced as a whole when something has become durable, read without waiting.
struct Published: Sendable {
  var definition: Definition
  var storageEpoch: String
  /// What the whole instance shows; `nil` for a kind with services.
  var whole: PublishedLane?
  /// What each service shows.
  var services: [String: PublishedLane] = [:]
  var pending: [Instance.Pending] = []

  subscript(service: String?) -> PublishedLane? {
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

  /// What the whole instance shows; of several services the one that is signed in furthest.
  var main: PublishedLane {
    whole ?? services.sorted { $0.key < $1.key }.map(\.value).min { $0.rank < $1.rank } ?? PublishedLane()
  }
}

/// What a lane shows.
struct PublishedLane: Sendable {
  var state = InstanceState.noUser
  var user = User.none
  var expiresAt: Timestamp?
  var lastError: Instance.LastError?
  var degraded: String?
  /// Whether somebody set it up.
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

/// A credential that may be handed out, with its answer written ahead of time.
struct PublishedToken: Sendable {
  /// When it ends, in seconds since 1970.
  let expiresAt: Double?
  /// Which one it is.
  let tokenId: TokenID
  private let head: [UInt8]
  private let http: [UInt8]

  init(_ credential: Credential, http: TokenHTTP) {
    expiresAt = credential.expiresAt?.secondsSince1970
    tokenId = credential.tokenId
    var writer = JSONWriter(reserving: 512)
    writer.write(raw: #"{"token":"#)
    writer.write(string: credential.token.reveal())
    writer.write(raw: #","tokenId":"#)
    writer.write(string: credential.tokenId.description)
    writer.write(raw: #","tokenType":"#)
    writer.write(string: credential.type.rawValue)
    if let end = credential.expiresAt {
      writer.write(raw: #","expiresAt":"#)
      writer.write(string: end.description)
    }
    head = writer.bytes
    self.http = ((try? JSONValueEncoder.encode(http)).map(JSONWriter.bytes(of:))) ?? Array("{}".utf8)
  }

  /// The result of `token.get`, if the credential lives for `minTTL` seconds from now.
  func answer(minTTL: Double, http wantsHTTP: Bool, now: Timestamp) -> [UInt8]? {
    let ttl = expiresAt.map { $0 - now.secondsSince1970 }
    if let ttl, ttl <= 0 || ttl < minTTL { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.count + 64 + (wantsHTTP ? http.count + 8 : 0))
    bytes.append(contentsOf: head)
    if let ttl {
      bytes.append(contentsOf: #","ttl":"#.utf8)
      bytes.append(contentsOf: JSONNumber((ttl * 1000).rounded(.down) / 1000).text.utf8)
    }
    bytes.append(contentsOf: #","fromCache":true,"stale":false"#.utf8)
    if wantsHTTP {
      bytes.append(contentsOf: #","http":"#.utf8)
      bytes.append(contentsOf: http)
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}
