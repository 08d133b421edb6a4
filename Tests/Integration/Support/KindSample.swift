import Foundation
import JSONRPC
import Testing

/// A kind of instance at the sandbox, with the settings and calls that tests across kinds need.
///
/// Texts have places in braces: `{http}` and `{ws}` for the URLs of the kind's backend, `{user}`, `{sandbox}` for the
/// program, `{jwt}` for a JWT of the user, and `{grant.id}`, for example, for a member of the user's grant.
struct KindSample: Sendable, CustomTestStringConvertible {
  /// A call, without its instance.
  struct Call: Sendable {
    let method: String
    let params: JSONObject

    init(_ method: String, _ params: JSONObject = [:]) {
      self.method = method
      self.params = params
    }

    func on(_ instance: String) -> (method: String, params: JSONObject) {
      (method, params.merged(with: ["instance": .string(instance)]))
    }

    func filled(_ value: (String) throws -> String?) rethrows -> Call {
      Call(method, try JSON.object(params).filled(value).objectValue ?? [:])
    }
  }

  let kind: String
  /// The sandbox's name for the kind's backend.
  let sdk: String
  private let settingsText: JSONObject
  private let providerText: String?
  private let signInCall: Call
  private let signOutCall: Call
  /// The vendor's route that accepts a user; `nil` for a sign-in without a request.
  let exchange: String?
  private let lockCall: Call?
  /// The settings that are URLs. The first is that of the HTTP backend.
  let urls: [String]
  /// A change of the settings to another backend.
  let otherBackend: JSONObject
  private let refusalText: JSON
  /// Whether the user stays signed in when a logout can't reach the vendor.
  let keepsUsers: Bool
  /// Whether another user may sign in before the present one has signed out.
  let replacesUsers: Bool
  /// The kind's methods whose calls the tests of their order leave out.
  let unprobed: [String]
  /// The script that keeps the vendor from answering a push registration; `nil` for a kind without push.
  let unansweredPush: JSON?
  /// The calls of the kind's examples in the contract, on an instance with this name, in an order in which each finds
  /// what it needs. They have the params that differ from the example's. `nil` for the kind of the common examples.
  let examples: (instance: String, calls: [Call])?

  init(
    kind: String, sdk: String, settings: JSONObject, provider: String? = nil, signIn: Call, signOut: Call,
    exchange: String? = nil, lock: Call? = nil, urls: [String], otherBackend: JSONObject, refusal: JSON,
    keepsUsers: Bool = false, replacesUsers: Bool = true, unprobed: [String] = [], unansweredPush: JSON? = nil,
    examples: (instance: String, calls: [Call])? = nil
  ) {
    self.kind = kind
    self.sdk = sdk
    settingsText = settings
    providerText = provider
    signInCall = signIn
    signOutCall = signOut
    self.exchange = exchange
    lockCall = lock
    self.urls = urls
    self.otherBackend = otherBackend
    refusalText = refusal
    self.keepsUsers = keepsUsers
    self.replacesUsers = replacesUsers
    self.unprobed = unprobed
    self.unansweredPush = unansweredPush
    self.examples = examples
  }

  var testDescription: String { kind }

  static let sandbox = Program.path("sdk-sandbox")

  /// The settings at the sandbox.
  func settings(_ vendor: Vendor) throws -> JSONObject {
    settings(http: try vendor.base(sdk), ws: try vendor.base(sdk, socket: true))
  }

  /// The settings at a backend with these URLs.
  func settings(http: String, ws: String) -> JSONObject {
    JSON.object(settingsText).filled { ["http": http, "ws": ws][$0] }.objectValue ?? [:]
  }

  /// The shell script of the provider for a user; `nil` where the SDK needs none.
  func provider(_ user: String) -> String? {
    providerText?.replacingOccurrences(of: "{user}", with: user).replacingOccurrences(
      of: "{sandbox}", with: Self.sandbox)
  }

  /// The call that begins to sign a user in.
  ///
  /// - Parameter ttl: the lifetime of a JWT, in seconds.
  func signIn(
    _ vendor: Vendor, _ instance: String, _ user: String, ttl: Int = 3600
  ) throws -> (method: String, params: JSONObject) {
    try filled(signInCall, vendor, user, ttl: ttl).on(instance)
  }

  /// Returns the body of a response by which the vendor refuses a request with these words.
  func refusal(_ words: String) -> JSON { refusalText.filled { ["words": words][$0] } }

  /// Returns a call of a user with its places filled.
  ///
  /// - Parameters:
  ///   - ttl: the lifetime of JWTs, in seconds.
  ///   - other: returns the texts of places that only some calls have.
  func filled(
    _ call: Call, _ vendor: Vendor, _ user: String, ttl: Int = 3600,
    other: (_ place: String) throws -> String? = { _ in nil }
  ) throws -> Call {
    var grant: JSON?
    return try call.filled { place in
      switch place {
      case "user": return user
      case "jwt": return try Vendor.mint(user, ttl: ttl, ["--sdk", kind])
      default:
        guard place.hasPrefix("grant.") else { return try other(place) }
        if grant == nil { grant = try vendor.request("POST", "/_grant", ["user": .string(user)]) }
        return grant?[String(place.dropFirst("grant.".count))]?.stringValue
      }
    }
  }

  /// The call that signs the user out.
  func signOut(_ instance: String) -> (method: String, params: JSONObject) { signOutCall.on(instance) }

  /// The call that hides the user until they sign in again; `nil` where only a refusal does.
  var lock: ((_ instance: String) -> (method: String, params: JSONObject))? {
    lockCall.map { call in { call.on($0) } }
  }
}

extension JSON {
  /// Returns the value with the places in its texts filled.
  ///
  /// - Parameter value: returns the text for the name of a place; `nil` for braces that are no place.
  fileprivate func filled(_ value: (String) throws -> String?) rethrows -> JSON {
    switch self {
    case .string(let text):
      var filled = ""
      var rest = text[...]
      while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
        filled += rest[..<start]
        let place = String(rest[rest.index(after: start)..<end])
        filled += try value(place) ?? "{\(place)}"
        rest = rest[rest.index(after: end)...]
      }
      return .string(filled + rest)
    case .array(let values): return .array(try values.map { try $0.filled(value) })
    case .object(let object):
      var filled = JSONObject()
      for member in object.members { filled[member.key] = try member.value.filled(value) }
      return .object(filled)
    default: return self
    }
  }
}

extension Desk {
  /// Creates an instance of a sample's kind. Its provider, if any, appends a line to the file `runs-ID` at each run.
  @discardableResult
  func create(_ id: String, _ sample: KindSample, user: String, on line: Line, settings: JSONObject = [:]) throws
    -> JSON
  {
    let script = sample.provider(user).map { "echo run >> '\(folder.path)/runs-\(id)'; \($0)" }
    return try create(
      id, kind: sample.kind, on: line, settings: try sample.settings(vendor).merged(with: settings),
      provider: try script.map { try provider($0, name: "provider-\(id)") })
  }

  /// Signs a user in and returns the result of `token.get`.
  @discardableResult
  func signIn(_ id: String, _ sample: KindSample, as user: String, on line: Line) throws -> JSON {
    let (method, params) = try sample.signIn(vendor, id, user)
    try line.call(method, .object(params))
    return try line.call("token.get", ["instance": .string(id)])
  }

  /// Returns the number of runs of an instance's provider.
  func runs(_ id: String) -> Int {
    let text = try? String(contentsOf: folder.appendingPathComponent("runs-\(id)"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  /// Returns the events of an instance: those of the given types, or all without types.
  func events(_ id: String, on line: Line, _ types: String...) throws -> [JSON] {
    let all = try line.call("events.list", ["instances": [.string(id)], "limit": 500])["events"]?.arrayValue ?? []
    return types.isEmpty ? all : all.filter { types.contains($0["type"]?.stringValue ?? "") }
  }

  /// Returns the state of an instance.
  func state(of id: String, on line: Line) throws -> String? {
    try line.call("instance.get", ["instance": .string(id)])["state"]?.stringValue
  }
}

extension Vendor {
  /// Makes the vendor respond with 503 from now on, on every route and to every upgrade.
  func goDown() throws { try script(["route": "/**", "status": 503, "times": "forever"]) }
}
