import JSONRPC
import SDKInstances
import Testing

@testable import JSONRPCTransport
@testable import sdkd

/// The peer of a connection that a former daemon has handed over.
struct HandedPeerTests {
  private static let processes = [
    PeerProcess(), PeerProcess(unit: "desk.service", executable: "/usr/bin/desk"),
    PeerProcess(userUnit: PeerProcess.UserUnit(unit: "app-desk-1.scope", uid: 1000)),
  ]

  private static func state(_ program: JSON) -> ConnectionHandOver {
    ConnectionHandOver(
      inode: 1, framing: nil, input: [], output: [], requests: [], lastQuestion: 0, program: program)
  }

  private static func peer(_ process: PinnedProcess) -> Peer {
    Peer(PeerCredentials(pid: 1, uid: 7, gid: 7, process: process), user: 7)
  }

  @Test("A process that the former daemon has seen is known at once, so that no rule about units waits for it")
  func seen() throws {
    for process in Self.processes {
      let program: JSON = [HandedPeer.member: HandedPeer.json(of: process)]
      let pinned = try #require(HandedPeer.seen(1, Self.state(program)))
      #expect(Self.peer(pinned).knownProcess == process)
      #expect(Self.peer(pinned).process == process)
    }
  }

  @Test("A process that the former daemon has not seen is unknown")
  func unseen() {
    #expect(HandedPeer.seen(1, Self.state([:])) == nil)
    let other = Self.peer(PinnedProcess(pid: 1, seen: "another program's value"))
    #expect(other.knownProcess == nil)
    #expect(other.process == PeerProcess())
  }
}
