import NIOPosix
import SDKInstances

@testable import SDKKinds

/// A client's socket and the server's end of it.
struct SocketPair {
  let server: TestSocketServer
  let socket: any VendorSocket
  let peer: TestPeer

  static func client(_ limits: SocketLimits = SocketLimits()) -> VendorSocketClient {
    VendorSocketClient(group: .singleton, limits: limits)
  }

  static func open(
    _ limits: SocketLimits = SocketLimits(), pingInterval: Double = 20
  ) async throws -> SocketPair {
    let server = try await TestSocketServer.start()
    let socket = try await client(limits).open(
      SocketRequestParts(instance: "a", url: "ws://127.0.0.1:\(server.port)/", pingInterval: pingInterval))
    return SocketPair(server: server, socket: socket, peer: try await server.peer())
  }
}
