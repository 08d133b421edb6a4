import SDKInstances

extension AdapterServices {
  /// Services for an adapter that is made to see whether it can be, and then dropped.
  static var forChecking: AdapterServices {
    AdapterServices(instance: "00000000-0000-0000-0000-000000000000", clock: .system, http: NoHTTP(), sockets: NoHTTP())
  }
}

/// Checking a configuration talks to nobody.
private struct NoHTTP: HTTPSending, SocketOpening {
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    throw .network("A configuration is checked without the network.")
  }

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    throw .network("A configuration is checked without the network.")
  }

  func forget(instance: String) async {}
}
