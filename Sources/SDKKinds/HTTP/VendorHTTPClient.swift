import AsyncHTTPClient
import NIOCore
import NIOHTTP1
public import NIOPosix
import NIOSSL
public import SDKInstances

/// HTTP to the vendors: a client with connections of its own for each instance, made when it is first needed.
///
/// Certificates are checked, redirects are not followed (they would carry credentials elsewhere), bodies are bounded.
public actor VendorHTTPClient: HTTPSending {
  private struct Lent {
    var client: HTTPClient
    var caFile: String?
    var inUse = 0
    var order: UInt64 = 0
  }

  private let group: MultiThreadedEventLoopGroup
  private var clients: [String: Lent] = [:]
  private var uses: UInt64 = 0

  /// How many instances may have open connections; the one that was used least lately gives way.
  private static let capacity = 256
  private static let maximumBodyBytes = 1 << 20

  /// A client on these event loops.
  public init(group: MultiThreadedEventLoopGroup) { self.group = group }

  public func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    let client = lend(request)
    let result: Result<HTTPResponseParts, HTTPFailure>
    do throws(HTTPFailure) {
      result = .success(try await Self.exchange(request, client))
    } catch {
      result = .failure(error)
    }
    await giveBack(request.instance, client)
    return try result.get()
  }

  public func forget(instance: String) async {
    guard let lent = clients.removeValue(forKey: instance), lent.inUse == 0 else { return }
    try? await lent.client.shutdown()
  }

  /// Closes all connections.
  public func shutdown() async {
    let all = clients.values
    clients = [:]
    for lent in all { try? await lent.client.shutdown() }
  }

  private func lend(_ request: HTTPRequestParts) -> HTTPClient {
    uses += 1
    if var lent = clients[request.instance], lent.caFile == request.caFile {
      lent.inUse += 1
      lent.order = uses
      clients[request.instance] = lent
      return lent.client
    }
    let client = HTTPClient(
      eventLoopGroupProvider: .shared(group), configuration: Self.configuration(caFile: request.caFile))
    clients[request.instance] = Lent(client: client, caFile: request.caFile, inUse: 1, order: uses)
    return client
  }

  private func giveBack(_ instance: String, _ client: HTTPClient) async {
    guard clients[instance]?.client === client else {
      // The instance was forgotten or has other certificates by now.
      try? await client.shutdown()
      return
    }
    clients[instance]?.inUse -= 1
    guard clients.count > Self.capacity,
      let idle = clients.filter({ $0.value.inUse == 0 }).min(by: { $0.value.order < $1.value.order })?.key
    else { return }
    await forget(instance: idle)
  }

  private static func configuration(caFile: String?) -> HTTPClient.Configuration {
    var tls = TLSConfiguration.makeClientConfiguration()
    if let caFile { tls.trustRoots = .file(caFile) }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    configuration.timeout.connect = .seconds(10)
    configuration.connectionPool.idleTimeout = .seconds(30)
    // Who asked decides when to try again; a refused connection or certificate is told at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4
    configuration.httpVersion = .http1Only
    return configuration
  }

  private static func exchange(
    _ parts: HTTPRequestParts, _ client: HTTPClient
  ) async throws(HTTPFailure) -> HTTPResponseParts {
    var request = HTTPClientRequest(url: parts.url)
    request.method = .init(rawValue: parts.method)
    for header in parts.headers { request.headers.add(name: header.name, value: header.value) }
    if let body = parts.body { request.body = .bytes(ByteBuffer(bytes: body)) }
    do {
      let deadline = NIODeadline.now() + .milliseconds(Int64(min(max(parts.timeout, 0.001), 600) * 1000))
      let response = try await client.execute(request, deadline: deadline)
      let body = try await response.body.collect(upTo: maximumBodyBytes)
      var headers: [String: String] = [:]
      for field in response.headers where headers[field.name.lowercased()] == nil {
        headers[field.name.lowercased()] = field.value
      }
      return HTTPResponseParts(status: Int(response.status.code), headers: headers, body: Array(body.readableBytesView))
    } catch is NIOTooManyBytesError {
      throw .tooLarge
    } catch let error as HTTPClientError {
      switch error {
      case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout:
        throw .timeout
      default: throw .network(error.shortDescription)
      }
    } catch {
      // The type alone: an error's text may quote the request.
      throw .network(String(describing: type(of: error)))
    }
  }
}
