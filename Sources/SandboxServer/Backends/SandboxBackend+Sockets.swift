/// The defaults for backends without WebSockets: `open` refuses every socket with 404.
extension SandboxBackend {
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse? {
    SandboxResponse(404, json: errorBody(for: 404), note: "no WebSocket here")
  }

  mutating func receive(_ frame: SocketFrame) -> String? { nil }

  mutating func closed(_ socket: Int) {}

  var outbox: [SocketAction] {
    get { [] }
    set {}
  }

  func sockets(of user: String) -> [Int] { [] }

  func names(of message: JSONTree) -> [String] {
    ["__type", "action", "type", "channel"].compactMap { message[$0]?.text }
  }

  func completed(_ reply: JSONTree, answering message: JSONTree) -> JSONTree { reply }
}
