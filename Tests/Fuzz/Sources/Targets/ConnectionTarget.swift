import JSONRPC

@testable import JSONRPCTransport

extension FuzzTarget {
  /// A whole connection: admission, batches, cancellations, answers. Lines go to a program that echoes params.
  static let connection = FuzzTarget("connection", bytesPerLine: 64) { input in
    blocking {
      var settings = ConnectionSettings()
      settings.limits = TransportLimits(maxInFlight: 2, maxQueuedBytes: 2048)
      let client = InMemoryConnection(settings: settings) { _ in Echo() }
      for line in input.lines where !line.isEmpty { client.send(line) }
      client.endInput()
      await client.closed()
      var count = 0
      for await _ in client.lines { count += 1 }
      require(count <= input.lines.count, "There are more answers than lines.")
    }
  }
}

/// Answers requests with their params: at once, later, or with an error, by the method's name.
private final class Echo: ConnectionHandler {
  func accept(_ request: RPCRequest) -> Acceptance {
    let params = JSONWriter.bytes(of: request.params ?? .null)
    switch request.method {
    case "error": return .reply(.failure(.invalidParams("This is refused.", member: nil)))
    case "run": return .run(Call(params: params))
    default: return .reply(.success(params))
    }
  }

  func receive(notification: RPCRequest) -> (any AcceptedCall)? {
    notification.method == "run" ? Call(params: JSONWriter.bytes(of: notification.params ?? .null)) : nil
  }

  func closed() {}

  private final class Call: AcceptedCall {
    let params: [UInt8]

    init(params: [UInt8]) { self.params = params }

    func run() async -> Result<[UInt8], RPCError> {
      await Task.yield()
      return Task.isCancelled ? .failure(.cancelled) : .success(params)
    }

    func abandon() {}
  }
}
