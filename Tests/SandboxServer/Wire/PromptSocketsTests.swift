import FlyingSocks
import Glibc
import Testing

@testable import SandboxServer

struct PromptSocketsTests {
  private struct NoPool: AsyncSocketPool {
    func prepare() async throws {}
    func run() async throws {}
    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {}
  }

  @Test func `The body of an answer does not wait until its head is acknowledged`() async throws {
    let option = BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY)
    let (listening, client) = (try Socket(domain: AF_INET), try Socket(domain: AF_INET))
    defer { for socket in [listening, client] { try? socket.close() } }
    try listening.bind(to: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0))
    try listening.listen()
    // As the server does before it accepts.
    try await PromptSockets(NoPool()).suspendSocket(listening, untilReadyFor: .connection)
    guard case .ip4(_, let port) = try listening.sockname() else { throw SocketError.disconnected }
    try client.connect(to: try sockaddr_in.inet(ip4: "127.0.0.1", port: port))
    let accepted = Socket(file: try listening.accept().file)
    defer { try? accepted.close() }
    #expect(try accepted.getValue(for: option))
  }
}
