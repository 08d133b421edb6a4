import SDKInstances

extension AdapterServices {
  /// Services for an adapter that is created only to check its settings.
  static var forChecking: AdapterServices {
    AdapterServices(instance: "00000000-0000-0000-0000-000000000000", clock: .system, http: NoHTTP(), sockets: NoHTTP())
  }
}

/// A network client whose requests all fail, since checking a configuration must not use the network.
private struct NoHTTP: HTTPSending, SocketOpening {
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    throw .network("A configuration is checked without the network.")
  }

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    throw .network("A configuration is checked without the network.")
  }

  func forget(instance: String) async {}
}
