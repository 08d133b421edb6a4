import NIOCore
import SDKInstances

/// An inquiry into why a proxy opened no tunnel, which the HTTP client does not report.
///
/// It requests the tunnel once more and closes it at once, so nothing is sent to the server.
enum TunnelInquiry {
  /// Returns the failure in words for the operator.
  static func failure(
    of tunnel: Tunnel, _ route: Route, until deadline: NIODeadline, on loop: any EventLoop
  ) async -> HTTPFailure {
    guard deadline > .now() else { return tunnel.timeout }
    do {
      let channel = try await SocketAttempt.connect(route, on: loop, until: deadline).get()
      channel.close(promise: nil)
      return tunnel.failure("opened no connection to \(tunnel.target), but did so a moment later; try again")
    } catch {
      return HTTPFailure(socket: error)
    }
  }
}
