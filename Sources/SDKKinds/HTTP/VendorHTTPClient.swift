import AsyncHTTPClient
import Concurrency
import Glibc
import NIOCore
import NIOHTTP1
public import NIOPosix
public import SDKInstances

/// HTTP to the vendors: a client with connections of its own for each instance, made when it is first needed.
///
/// Certificates are checked, redirects are not followed (they would carry credentials elsewhere), bodies are bounded, and
/// one deadline covers everything from the name to the last byte of the answer.
public actor VendorHTTPClient: HTTPSending {
  /// Whose connections they are, and where they lead.
  private struct Place: Hashable {
    var instance: String
    var host: String
    var rule: AddressRule
  }

  /// A client and how many requests are under way on it: it is shut down when the last has ended.
  private final class Lent {
    let client: HTTPClient
    let address: NetworkAddress
    let trusted: TrustedCertificates?
    var inUse = 0
    var order: UInt64 = 0
    /// Whether it was used since `closeIdle` looked last.
    var wasUsed = true

    init(_ client: HTTPClient, _ address: NetworkAddress, _ trusted: TrustedCertificates?) {
      self.client = client
      self.address = address
      self.trusted = trusted
    }
  }

  private let group: MultiThreadedEventLoopGroup
  private let names: any NameResolving
  private var clients: [Place: Lent] = [:]
  private var uses: UInt64 = 0
  private var isClosed = false

  /// How many hosts of instances may have open connections; the one that was used least lately gives way.
  private static let capacity = 512
  private static let maximumBodyBytes = 1 << 20
  /// How many addresses of a host are tried.
  private static let maximumAddresses = 3

  /// How many hosts of instances have a client now.
  var clientCount: Int { clients.count }

  /// A client on these event loops.
  public init(group: MultiThreadedEventLoopGroup) { self.init(group: group, names: SystemNames.shared) }

  init(group: MultiThreadedEventLoopGroup, names: any NameResolving) {
    self.group = group
    self.names = names
  }

  public func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    // Also for what was stored before such URLs were refused where they enter.
    guard let url = VendorURL(request.url, .http) else { throw .network("the URL leads nowhere") }
    let timeout = TimeAmount.milliseconds(Int64(min(max(request.timeout, 0.001), 600) * 1000))
    let deadline = NIODeadline.now() + timeout
    let place = Place(instance: request.instance, host: url.host, rule: request.addresses)
    let loop = group.next()
    var addresses = try await names.addresses(of: url.host, by: place.rule, timeout: timeout, on: loop)
    let trusted =
      url.isSecure
      ? try await TrustedCertificates.of(caFile: request.caFile, timeout: deadline - .now(), on: loop) : nil
    // A connection that is open is used again.
    if let known = clients[place]?.address, let index = addresses.firstIndex(of: known) { addresses.swapAt(0, index) }
    var last = HTTPFailure.network("no connection")
    for address in addresses.prefix(Self.maximumAddresses) {
      let lent = try await lend(place, address, trusted)
      let outcome = await Self.exchange(request, to: url, until: deadline, lent.client)
      await giveBack(place, lent)
      switch outcome {
      case .answered(let answer): return answer
      case .failed(.unverified):
        throw await CertificateInquiry.failure(at: url, [address], caFile: request.caFile, until: deadline, on: loop)
      case .failed(let failure): throw failure
      case .unconnected(let failure): last = failure
      }
    }
    throw last
  }

  public func forget(instance: String) async {
    for place in clients.keys where place.instance == instance { await forget(place) }
  }

  /// Lets go of the clients that nobody has used since the last call: a few KiB each, for instances that rarely ask.
  public func closeIdle() async {
    for (place, lent) in clients where lent.inUse == 0 {
      if lent.wasUsed { lent.wasUsed = false } else { await forget(place) }
    }
  }

  /// Closes all connections, which ends the requests that are under way, and takes no more.
  public func shutdown() async {
    isClosed = true
    let all = clients.values
    clients = [:]
    for lent in all { try? await lent.client.shutdown() }
  }

  private func forget(_ place: Place) async {
    // One that is in use is shut down when it is given back.
    guard let lent = clients.removeValue(forKey: place), lent.inUse == 0 else { return }
    try? await lent.client.shutdown()
  }

  private func lend(
    _ place: Place, _ address: NetworkAddress, _ trusted: TrustedCertificates?
  ) async throws(HTTPFailure) -> Lent {
    guard !isClosed else { throw .network("the daemon is stopping") }
    uses += 1
    let former = clients[place]
    if let former, former.trusted === trusted, former.address == address {
      former.inUse += 1
      former.order = uses
      return former
    }
    let lent = Lent(
      HTTPClient(
        eventLoopGroupProvider: .shared(group),
        configuration: Self.configuration(trusted, place.host, address, place.rule)),
      address, trusted)
    lent.inUse = 1
    lent.order = uses
    clients[place] = lent
    if let former, former.inUse == 0 { try? await former.client.shutdown() }
    return lent
  }

  private func giveBack(_ place: Place, _ lent: Lent) async {
    lent.inUse -= 1
    lent.wasUsed = true
    guard clients[place] === lent else {
      // The instance was forgotten, or has other certificates or addresses by now.
      if lent.inUse == 0 { try? await lent.client.shutdown() }
      return
    }
    guard clients.count > Self.capacity,
      let idle = clients.filter({ $0.value.inUse == 0 }).min(by: { $0.value.order < $1.value.order })?.key
    else { return }
    await forget(idle)
  }

  private static func configuration(
    _ trusted: TrustedCertificates?, _ host: String, _ address: NetworkAddress, _ rule: AddressRule
  ) -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: trusted?.configuration, redirectConfiguration: .disallow)
    configuration.timeout.connect = .seconds(10)
    // The requests of a login follow one another at once, and the next may come in an hour: a connection over TLS that
    // waits costs some 100 KB.
    configuration.connectionPool.idleTimeout = .seconds(2)
    // Who asked decides when to try again; a refused connection or certificate is told at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4
    configuration.httpVersion = .http1Only
    // The client does not resolve the name again: it connects to the address that was checked, and still sends the
    // name and asks for its certificate.
    configuration.dnsOverride = [host: address.text]
    configuration.http1_1ConnectionDebugInitializer = { channel in checked(channel, rule) }
    return configuration
  }

  /// Looks once more where a connection has ended, before anything of a request goes over it.
  private static func checked(_ channel: any Channel, _ rule: AddressRule) -> EventLoopFuture<Void> {
    let refusal =
      if let address = channel.remoteAddress.flatMap({ NetworkAddress($0) }) { rule.refusal(of: address) } else {
        "the connection is closed"
      }
    guard let refusal else { return channel.eventLoop.makeCompletedFuture { try ResponseGuard.add(to: channel) } }
    // Not at once: the pool must hear of the failure before it hears of the end.
    channel.eventLoop.execute { channel.close(promise: nil) }
    return channel.eventLoop.makeFailedFuture(HTTPFailure.network(refusal))
  }

  private enum Outcome {
    case answered(HTTPResponseParts)
    case failed(HTTPFailure)
    /// Nothing of the request has gone out.
    case unconnected(HTTPFailure)
  }

  /// Sends a request and reads the whole answer. The client's own deadline ends with the head of the answer.
  private static func exchange(
    _ parts: HTTPRequestParts, to url: VendorURL, until deadline: NIODeadline, _ client: HTTPClient
  ) async -> Outcome {
    let left = max((deadline - .now()).nanoseconds, 0)
    let outcome = try? await withTimeout(.nanoseconds(left)) {
      await answer(to: parts, at: url, until: deadline, client)
    }
    return outcome ?? .failed(.timeout)
  }

  private static func answer(
    to parts: HTTPRequestParts, at url: VendorURL, until deadline: NIODeadline, _ client: HTTPClient
  ) async -> Outcome {
    // The override of names goes by the name as the URL spells it.
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
      return outcome(of: error)
    }
  }

  private static func outcome(of error: any Error) -> Outcome {
    if let failure = HTTPFailure(tls: error) { return .failed(failure) }
    switch error {
    case let error as HTTPFailure: return .failed(error)
    case is NIOTooManyBytesError: return .failed(.tooLarge)
    case ChannelError.connectTimeout: return .unconnected(.timeout)
    case let error as HTTPClientError:
      switch error {
      case .connectTimeout: return .unconnected(.timeout)
      case .deadlineExceeded, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
        return .failed(.timeout)
      default: return .failed(.network(error.shortDescription))
      }
    case is NIOConnectionError: return .unconnected(.network("no connection"))
    case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
      return .unconnected(.network("no connection, errno \(error.errnoCode)"))
    default:
      // The type alone: an error's text may quote the request.
      return .failed(.network(String(describing: type(of: error))))
    }
  }
}
