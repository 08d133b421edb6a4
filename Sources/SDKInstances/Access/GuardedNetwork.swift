/// The network as an adapter gets it: every request says where its connection may end, whoever wrote the adapter.
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
