import NIOCore
public import SDKInstances
public import SDKProtocol
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings for all connections to vendors, unless an instance has its own.
public struct NetworkOptions: Sendable, Hashable {
  /// The choice of the proxy.
  public var proxy = ProxyChoice.none
  /// The credentials for the proxy; `nil` for none.
  public var credentials: Secret?
  /// The hosts that are reached without a proxy, whether the daemon's or an instance's own.
  public var exceptions = ProxyExceptions()
  /// The path of the file with certificates to trust instead of the system's; `nil` for the system's.
  public var caFile: String?

  /// Creates options for direct connections with the system's certificates.
  public init() {}
}

/// The current settings for connections to vendors. A change applies to new connections only.
public final class VendorNetwork: Sendable {
  private let state: Mutex<NetworkOptions>
  private let environment: ProxyEnvironment

  /// Creates settings from options and the environment's proxy variables.
  public init(_ options: NetworkOptions = NetworkOptions(), environment: ProxyEnvironment = .current) {
    state = Mutex(options)
    self.environment = environment
  }

  /// Replaces the options.
  public func use(_ options: NetworkOptions) { state.withLock { $0 = options } }

  /// The path of the file with certificates to trust instead of the system's; `nil` for the system's.
  var caFile: String? { state.withLock(\.caFile) }

  /// The daemon's proxy as `daemon.info` shows it to admins; `nil` for none.
  public var shown: DaemonInfo.Result.Proxy? {
    let options = state.withLock { $0 }
    switch options.proxy {
    case .none: return nil
    case .server(let server): return .init(url: "\(server)", exceptions: options.exceptions.entries)
    case .environment:
      let exceptions = options.exceptions.entries + environment.exceptions.entries
      return environment.server.map { .init(url: "\($0)", exceptions: exceptions) }
    }
  }

  /// Returns the proxy for a URL; `nil` for a direct connection.
  ///
  /// - Parameter rule: the proxy of the instance, in place of the daemon's.
  /// - Throws: `network` for an IP address that must not be named to a proxy; `proxy` for an environment that can't be
  ///   used.
  func proxy(for url: VendorURL, _ rule: ProxyRule) throws(HTTPFailure) -> ProxyServer? {
    let address = NetworkAddress(literal: url.host)
    // Plain text is for this machine only, which is never reached through a proxy.
    if !url.isSecure || url.host == "localhost" || address?.scope == .thisMachine { return nil }
    let options = state.withLock { $0 }
    if options.exceptions.contains(url.host) { return nil }
    let credentials = rule.choice == nil ? options.credentials : rule.credentials
    guard var server = try server(of: rule.choice ?? options.proxy, for: url.host) else { return nil }
    if let address, let refusal = AddressRule.anywhere.refusal(of: address) { throw .network(refusal) }
    guard address == nil || rule.isListed else {
      throw .network(
        "its URL has an IP address, which is named to a proxy only if [network] allow lists it; see proxy_exceptions")
    }
    server.credentials = server.credentials ?? credentials
    return server
  }

  private func server(of choice: ProxyChoice, for host: String) throws(HTTPFailure) -> ProxyServer? {
    switch choice {
    case .none: return nil
    case .server(let server): return server
    case .environment:
      if environment.exceptions.contains(host) { return nil }
      if let mistake = environment.mistake { throw .proxy(mistake) }
      return environment.server
    }
  }

  /// Returns the addresses to connect to for a vendor's server. Resolves the server's name and checks its addresses by
  /// `addresses`. With a proxy, resolves the proxy's name instead.
  ///
  /// - Throws: `network`, `proxy`, `timeout`.
  func route(
    to url: VendorURL, _ addresses: AddressRule, _ rule: ProxyRule, names: any NameResolving, timeout: TimeAmount,
    on loop: any EventLoop
  ) async throws(HTTPFailure) -> Route {
    guard let proxy = try proxy(for: url, rule) else {
      let found = try await names.addresses(of: url.host, by: addresses, timeout: timeout, on: loop)
      return Route(addresses: Array(found.prefix(Route.maximumAddresses)), port: Int(url.port))
    }
    let tunnel = Tunnel(proxy: proxy, host: url.host, port: url.port)
    do throws(HTTPFailure) {
      let found = try await names.addresses(of: proxy.host, timeout: timeout, on: loop)
      guard !found.isEmpty else { throw .network("its name has no address") }
      return Route(
        addresses: Array(found.prefix(Route.maximumAddresses)), port: Int(proxy.port), tunnel: tunnel)
    } catch {
      switch error {
      case .network(let why): throw tunnel.failure("can't be used: \(why)")
      case .timeout: throw tunnel.failure("can't be reached: its name was not resolved in time; check the name service")
      default: throw error
      }
    }
  }
}

/// The addresses to connect to for a vendor's server: its own, or those of a proxy.
struct Route: Sendable, Hashable {
  /// The addresses to connect to, the preferred one first.
  var addresses: [NetworkAddress]
  /// The port to connect to.
  var port: Int
  /// The tunnel to request after connecting; `nil` for a direct connection.
  var tunnel: Tunnel?

  /// The maximum number of addresses that are tried to open one connection.
  static let maximumAddresses = 3
}

/// A tunnel through a proxy to a vendor's server.
struct Tunnel: Sendable, Hashable {
  /// The proxy.
  let proxy: ProxyServer
  /// The host of the server, without brackets.
  let host: String
  /// The port of the server.
  let port: UInt16

  /// The server as `HOST:PORT`, as a `CONNECT` request names it.
  var target: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// The credentials for the proxy in base64, as the scheme Basic has them (RFC 7617); `nil` for none.
  var credentials: Secret? { proxy.credentials.map { Secret(Data($0.reveal().utf8).base64EncodedString()) } }
}
