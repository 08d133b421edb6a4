import Foundation
import Glibc
import JSONRPC
import Testing

/// The rules for hosts apply to the addresses of a name, not only to its spelling. The daemon gets a hosts file of its
/// own.
@Suite(.enabled(if: getuid() == 0, "needs root to give the daemon a hosts file of its own"))
struct ResolvedHostTests {
  private let hosts = """
    127.0.0.1 localhost
    127.0.0.1 desk.vendor.test
    169.254.169.254 link.vendor.test
    192.0.2.1 mixed.vendor.test
    127.0.0.1 mixed.vendor.test
    """

  private func open(_ configuration: String) throws -> Desk {
    let desk = try Desk()
    try desk.write("sdkd.toml", configuration)
    let hosts = try desk.write("hosts", hosts + "\n")
    try desk.start(hosts: hosts)
    return desk
  }

  private func signIn(_ desk: Desk, _ id: String, on line: Line) throws -> RPCError {
    try line.failure(
      "messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint("alice"))], within: 40)
  }

  @Test func aNameThatLeadsToThisMachineOrItsLinkIsRefusedAndNobodyIsConnectedTo() throws {
    let listener = try SilentListener()
    let desk = try open(
      """
      [network]
      allow = ["vendor.test"]
      [[access.create]]
      who = "uid:65534"
      prefix = "kiosk-"
      max = 9
      """)
    let tenant = Caller(uid: 65534)
    let line = try desk.connect()
    for (host, words) in [("desk", "this machine"), ("link", "link-local"), ("mixed", "this machine")] {
      let url = "https://\(host).vendor.test:\(listener.port)/sc"
      let settings: JSON = ["base_url": .string(url), "app_id": .string(Desk.app), "realtime": "off"]
      let answer = try tenant.call(
        desk, "instance.create",
        ["instance": .string("kiosk-\(host)"), "kind": "zendesk.messaging", "settings": settings])
      #expect(answer["error"] == nil, "the name is on the list")
      let error = try signIn(desk, "kiosk-\(host)", on: line)
      #expect(error.reason == "network")
      #expect(error.message.contains(words), "\(error.message)")
    }
    #expect(listener.connections == 0)
    // Hosts that an admin configures may be on this machine, but never link-local.
    for (host, isReached) in [("desk", true), ("link", false)] {
      let settings: JSONObject = [
        "base_url": .string("https://\(host).vendor.test:\(listener.port)/sc"), "realtime": "off",
      ]
      try desk.create("admins-\(host)", on: line, settings: settings)
      let error = try signIn(desk, "admins-\(host)", on: line)
      #expect(["network", "timeout"].contains(error.reason))
      #expect(error.message.contains("link-local") == !isReached, "\(error.message)")
    }
    #expect(listener.connections >= 1, "the admin's host was reached")
  }
}

/// A listener on loopback that counts connections and closes them, so that a TLS handshake fails at once.
private final class SilentListener: Sendable {
  let port: UInt16
  private let descriptor: Int32
  private let shared: Shared

  /// The state that the thread shares with the listener. The thread does not keep the listener alive.
  private final class Shared: @unchecked Sendable {
    private let lock = NSLock()
    private var seen = 0
    private var isOver = false
    var connections: Int { lock.withLock { seen } }
    func count() { lock.withLock { seen += 1 } }
    func end() { lock.withLock { isOver = true } }
    var hasEnded: Bool { lock.withLock { isOver } }
  }

  init() throws {
    let descriptor = socket(AF_INET, Program.streamSocket, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
        guard bind(descriptor, pointer, size) == 0, listen(descriptor, 64) == 0 else { return -1 }
        return getsockname(descriptor, pointer, &size)
      }
    }
    guard status == 0 else { throw Program.Failure(description: "no socket to listen on") }
    port = UInt16(bigEndian: address.sin_port)
    self.descriptor = descriptor
    let shared = Shared()
    self.shared = shared
    Thread {
      while !shared.hasEnded {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, 50) > 0 else { continue }
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { continue }
        shared.count()
        close(connection)
      }
      close(descriptor)
    }.start()
  }

  var connections: Int { shared.connections }

  deinit { shared.end() }
}
