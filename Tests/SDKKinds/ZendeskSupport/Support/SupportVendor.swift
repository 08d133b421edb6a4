import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization

@testable import SDKKinds

/// A vendor without a network that records every request and responds as scripted, or else fails.
final class SupportVendor: HTTPSending {
  private struct State {
    var requests: [HTTPRequestParts] = []
    var answers: [HTTPResponseParts] = []
  }
  private let state = Mutex(State())

  /// The requests, oldest first.
  var requests: [HTTPRequestParts] { state.withLock { $0.requests } }
  /// The requests' methods and paths, such as `POST /access/sdk/jwt`.
  var calls: [String] { requests.map { "\($0.method) \($0.url.replacing("https://acme.zendesk.com", with: ""))" } }

  /// The body of the latest request.
  var body: JSON? { requests.last?.body.flatMap { try? JSONParser.parse($0) } }

  /// Scripts the next response.
  func answer(_ status: Int, _ json: JSON, headers: [String: String] = [:]) {
    let response = HTTPResponseParts(status: status, headers: headers, body: JSONWriter.bytes(of: json))
    state.withLock { $0.answers.append(response) }
  }

  /// Scripts a next response that accepts an exchange.
  func accept(_ token: String, userId: JSON = 7) {
    answer(200, ["authentication": ["access_token": .string(token), "user_id": userId]])
  }

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    guard let answer else { throw .network("nothing is scripted") }
    return answer
  }
}

/// A socket opener that always fails, since this SDK has no sockets.
struct NoSockets: SocketOpening {
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    throw .network("no sockets here")
  }
}

extension SupportAdapter {
  static let now = Timestamp(secondsSince1970: 1_800_000_000)

  /// Returns an adapter for an account at this vendor.
  static func at(
    _ vendor: SupportVendor, _ settings: JSONObject = ["authentication": "jwt"],
    now: @escaping @Sendable () -> Timestamp = { SupportAdapter.now }
  ) throws -> SupportAdapter {
    let base: JSONObject = ["base_url": "https://acme.zendesk.com", "app_id": "app", "client_id": "client"]
    let services = AdapterServices(
      instance: "i1", clock: WallClock(now: now), http: vendor, sockets: NoSockets())
    return SupportAdapter(
      settings: try Settings.decode(SupportSettings.self, from: base.merged(with: settings), at: "settings"),
      services: services)
  }

  /// Returns the credential that is offered to the vendor for an identity, when no identity was set before.
  func offered(_ identity: SupportIdentity) throws -> CheckedCredential {
    let offer = try offer(identity, over: .nobody(.noUser), isUsable: false, refusing: false)
    return offer ?? credential(identity, guid: newGuid(), hints: [], now: Self.now)
  }

  /// Returns the record of an identity that was set.
  func set(_ identity: SupportIdentity, user: String = "7") -> IdentityRecord {
    IdentityRecord(
      phase: .authenticated,
      user: User(id: user, authenticationType: .custom, authenticated: true, verified: identity.type == .jwt),
      credential: Credential(token: Secret("t0"), type: .accessToken, obtainedAt: Self.now, expiresAt: nil),
      kindState: identity.state(guid: Secret("0f0e0d0c-guid")))
  }
}

/// Returns the reason of the error that `work` throws, or its type if it is not an `SDKError`; `none` for no error.
func reason<T>(_ work: () async throws -> T) async -> String {
  do {
    _ = try await work()
    return "none"
  } catch let error as SDKError {
    return error.reason.rawValue
  } catch {
    return "\(type(of: error))"
  }
}
