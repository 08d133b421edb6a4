import AsyncHTTPClient
import Concurrency
import NIOCore
import NIOHTTP1
public import NIOPosix
public import SDKInstances
import SDKProtocol
import Synchronization

/// An HTTP client for vendors. The instances of one owner share the connections to a host, and each has a budget of them.
///
/// Certificates are verified. Redirects are not followed, since they would carry credentials elsewhere. A request that
/// may be repeated is sent once more over a new connection when its own ends without a response. Bodies are
/// limited to 1 MiB. One deadline covers everything from the name resolution to the last byte of the response. With a
/// proxy, a request goes through a tunnel, so the proxy sees the host's name only.
public actor VendorHTTPClient: HTTPSending {
  /// The key of a client: what its connections have in common.
  private struct Place: Hashable {
    var owner: ConnectionOwner
    var host: String
    var rule: AddressRule
    var tunnel: Tunnel?
    /// The path of the file with the trusted certificates. They can change, see `lend`.
    var caFile: String?
  }

  /// An HTTP client, with the number of requests that use it. A client that was replaced is shut down after its last
  /// request.
  private final class Lent {
    let client: HTTPClient
    let address: NetworkAddress
    let trusted: TrustedCertificates?
    let progress: Progress
    var inUse = 0
    /// Whether the client was used since the last `closeIdle`.
    var wasUsed = true

    init(
      _ client: HTTPClient, _ address: NetworkAddress, _ trusted: TrustedCertificates?, _ progress: Progress
    ) {
      self.client = client
      self.progress = progress
      self.address = address
      self.trusted = trusted
    }
  }

  /// A record of whether a client's connections have reached the server.
  private final class Progress: Sendable {
    /// Whether a connection has reached the vendor's server, so that the proxy is not the cause of later failures.
    let isConnected = Atomic(false)
  }

  private let group: MultiThreadedEventLoopGroup
  private let network: VendorNetwork
  private let names: any NameResolving
  private var clients: [Place: Lent] = [:]
  private var budget = RequestBudget()
  private var isClosed = false

  /// The number of clients from which on each is closed as soon as it is idle.
  private static let capacity = 512
  /// The maximum number of connections of a client. Further requests wait.
  private static let maximumConnections = 1024
  private static let maximumBodyBytes = 1 << 20

  /// The time for which a connection may be idle. The requests of a login follow at once; the next may come in an hour. An
  /// idle connection over TLS takes some 100 KB.
  private let idleTime: TimeAmount

  /// The number of clients: one for each owner, host, address rule, proxy and file of certificates.
  var clientCount: Int { clients.count }

  /// The number of requests that wait because their instance has too many in progress.
  var waitingCount: Int { budget.waitingCount }

  /// Creates a client on these event loops.
  public init(group: MultiThreadedEventLoopGroup, network: VendorNetwork = VendorNetwork()) {
    self.init(group: group, names: SystemNames.shared, network: network)
  }

  init(
    group: MultiThreadedEventLoopGroup, names: any NameResolving,
    network: VendorNetwork = VendorNetwork(), idleTime: TimeAmount = .seconds(2)
  ) {
    self.group = group
    self.idleTime = idleTime
    self.network = network
    self.names = names
  }

  public func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    // Stored URLs may be older than the check at their entry.
    guard let url = VendorURL(request.url, .http) else { throw .network("the URL leads nowhere") }
    let timeout = TimeAmount.milliseconds(Int64(min(max(request.timeout, 0.001), 600) * 1000))
    let deadline = NIODeadline.now() + timeout
    let requester = RequestBudget.Requester(instance: request.instance, host: url.host)
    try await enter(requester, until: deadline)
    defer { budget.leave(requester) }
    let loop = group.next()
    let caFile = request.caFile ?? network.caFile
    var route = try await network.route(
      to: url, request.addresses, request.proxy, names: names, timeout: max(deadline - .now(), .nanoseconds(0)),
      on: loop)
    let place = Place(
      owner: request.owner, host: url.host, rule: request.addresses, tunnel: route.tunnel,
      caFile: url.isSecure ? caFile : nil)
    let trusted =
      url.isSecure
      ? try await TrustedCertificates.of(caFile: caFile, timeout: deadline - .now(), on: loop) : nil
    // The address of an open connection comes first, so that the connection is reused.
    if let known = clients[place]?.address, let index = route.addresses.firstIndex(of: known) {
      route.addresses.swapAt(0, index)
    }
    var last = HTTPFailure.network("no connection")
    for address in route.addresses {
      var outcome = try await exchange(request, to: url, place, address, trusted, until: deadline)
      if case .cut = outcome, request.isRepeatable {
        // A new client has no connection yet, so the request goes over a new one.
        outcome = try await exchange(request, to: url, place, address, trusted, until: deadline, isNew: true)
      }
      switch outcome {
      case .answered(let answer): return answer
      case .failed(.unverified):
        route.addresses = [address]
        throw await CertificateInquiry.failure(at: url, route, caFile: caFile, until: deadline, on: loop)
      case .untunnelled(let tunnel):
        route.addresses = [address]
        throw await TunnelInquiry.failure(of: tunnel, route, until: deadline, on: loop)
      case .failed(let failure), .cut(let failure): throw failure
      case .unconnected(let failure): last = failure
      }
    }
    throw last
  }

  private func exchange(
    _ request: HTTPRequestParts, to url: VendorURL, _ place: Place, _ address: NetworkAddress,
    _ trusted: TrustedCertificates?, until deadline: NIODeadline, isNew: Bool = false
  ) async throws(HTTPFailure) -> HTTPOutcome {
    let lent = try await lend(place, address, trusted, isNew: isNew)
    let outcome = await Self.exchange(request, to: url, place.tunnel, until: deadline, lent.client, lent.progress)
    await giveBack(place, lent)
    return outcome
  }

  /// Waits until an instance has fewer requests in progress than its budget.
  private func enter(_ requester: RequestBudget.Requester, until deadline: NIODeadline) async throws(HTTPFailure) {
    guard let turn = budget.enter(requester) else { return }
    do {
      try await withTimeout(.nanoseconds(max((deadline - .now()).nanoseconds, 0))) { try await turn.value() }
    } catch {
      budget.withdraw(turn, of: requester)
      throw error is TimeoutError ? .timeout : .network("the wait for it was cancelled")
    }
  }

  /// Closes the clients that were not used since the last call. Each client takes a few KiB, and some owners rarely
  /// send a request.
  public func closeIdle() async {
    for (place, lent) in clients where lent.inUse == 0 {
      if lent.wasUsed { lent.wasUsed = false } else { await forget(place) }
    }
  }

  /// Closes all connections, which ends the requests under way. Later requests fail.
  public func shutdown() async {
    isClosed = true
    let all = clients.values
    clients = [:]
    for lent in all { try? await lent.client.shutdown() }
  }

  private func forget(_ place: Place) async {
    // `giveBack` shuts down a client that is in use.
    guard let lent = clients.removeValue(forKey: place), lent.inUse == 0 else { return }
    try? await lent.client.shutdown()
  }

  private func lend(
    _ place: Place, _ address: NetworkAddress, _ trusted: TrustedCertificates?, isNew: Bool
  ) async throws(HTTPFailure) -> Lent {
    guard !isClosed else { throw .network("the daemon is stopping") }
    let former = clients[place]
    if !isNew, let former, former.trusted === trusted, former.address == address {
      former.inUse += 1
      return former
    }
    let progress = Progress()
    let lent = Lent(
      HTTPClient(
        eventLoopGroupProvider: .shared(group), configuration: configuration(trusted, place, address, progress)),
      address, trusted, progress)
    lent.inUse = 1
    clients[place] = lent
    if let former, former.inUse == 0 { try? await former.client.shutdown() }
    return lent
  }

  private func giveBack(_ place: Place, _ lent: Lent) async {
    lent.inUse -= 1
    lent.wasUsed = true
    guard clients[place] === lent else {
      // The client was replaced: the host has other certificates or addresses by now, or a connection has ended.
      if lent.inUse == 0 { try? await lent.client.shutdown() }
      return
    }
    if clients.count > Self.capacity, lent.inUse == 0 { await forget(place) }
  }

  private func configuration(
    _ trusted: TrustedCertificates?, _ place: Place, _ address: NetworkAddress, _ progress: Progress
  ) -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: trusted?.configuration, redirectConfiguration: .disallow)
    configuration.timeout.connect = .seconds(10)
    configuration.connectionPool.idleTimeout = idleTime
    // The caller decides when to try again. A refused connection or certificate fails at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.maximumConnections
    configuration.httpVersion = .http1Only
    if let tunnel = place.tunnel {
      configuration.proxy = .server(
        host: address.text, port: Int(tunnel.proxy.port),
        authorization: tunnel.credentials.map { .basic(credentials: $0.reveal()) })
      configuration.http1_1ConnectionDebugInitializer = { channel in
        progress.isConnected.store(true, ordering: .relaxed)
        return Self.guarded(channel)
      }
      return configuration
    }
    // The client does not resolve the name again. It connects to the checked address, but still sends the name and
    // verifies the certificate against it.
    configuration.dnsOverride = [place.host: address.text]
    configuration.http1_1ConnectionDebugInitializer = { channel in Self.checked(channel, place.rule) }
    return configuration
  }

  /// Checks the address of a new connection again, before any part of a request is sent over it.
  private static func checked(_ channel: any Channel, _ rule: AddressRule) -> EventLoopFuture<Void> {
    let refusal =
      if let address = channel.remoteAddress.flatMap({ NetworkAddress($0) }) { rule.refusal(of: address) } else {
        "the connection is closed"
      }
    guard let refusal else { return guarded(channel) }
    // Close in a later event: the pool must see the failure before it sees the close.
    channel.eventLoop.execute { channel.close(promise: nil) }
    return channel.eventLoop.makeFailedFuture(HTTPFailure.network(refusal))
  }

  private static func guarded(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture { try ResponseGuard.add(to: channel) }
      .flatMap { ConnectionTurns.limit(channel) }
  }

  /// Sends a request and reads the whole response. The client's own deadline covers only the head of the response.
  private static func exchange(
    _ parts: HTTPRequestParts, to url: VendorURL, _ tunnel: Tunnel?, until deadline: NIODeadline, _ client: HTTPClient,
    _ progress: Progress
  ) async -> HTTPOutcome {
    let left = max((deadline - .now()).nanoseconds, 0)
    let outcome = try? await withTimeout(.nanoseconds(left)) {
      await answer(to: parts, at: url, tunnel, until: deadline, client, progress)
    }
    if let outcome { return outcome }
    return .failed(progress.isConnected.load(ordering: .relaxed) ? .timeout : tunnel?.delay ?? .timeout)
  }

  private static func answer(
    to parts: HTTPRequestParts, at url: VendorURL, _ tunnel: Tunnel?, until deadline: NIODeadline, _ client: HTTPClient,
    _ progress: Progress
  ) async -> HTTPOutcome {
    // `dnsOverride` compares names literally, so the URL is built from the normalized host.
    var request = HTTPClientRequest(url: "\(url.isSecure ? "https" : "http")://\(url.authority)\(url.target)")
    request.method = .init(rawValue: parts.method)
    for header in parts.headers { request.headers.add(name: header.name, value: header.value) }
    if let body = parts.body { request.body = .bytes(ByteBuffer(bytes: body)) }
    do {
      let response = try await client.execute(request, deadline: deadline)
      let body = try await response.body.collect(upTo: maximumBodyBytes)
      try Task.checkCancellation()
      var headers: [String: String] = [:]
      for field in response.headers where headers[field.name.lowercased()] == nil {
        headers[field.name.lowercased()] = field.value
      }
      return .answered(
        HTTPResponseParts(status: Int(response.status.code), headers: headers, body: Array(body.readableBytesView)))
    } catch {
      return HTTPOutcome(error, progress.isConnected.load(ordering: .relaxed) ? nil : tunnel)
    }
  }
}
