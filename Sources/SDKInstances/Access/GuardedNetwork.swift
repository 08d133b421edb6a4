/// The network as adapters see it. It adds the permitted addresses to every request, so that no adapter can omit them.
struct GuardedNetwork: HTTPSending, SocketOpening {
  let http: any HTTPSending
  let sockets: any SocketOpening
  let rule: @Sendable () -> SuppliedURLRule

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    var request = request
    request.addresses = rule().addresses(for: request.url)
    return try await http.send(request)
  }

  func forget(instance: String) async { await http.forget(instance: instance) }

  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    var request = request
    request.addresses = rule().addresses(for: request.url)
    return try await sockets.open(request)
  }
}
