import Glibc
import JSONRPC
import JSONRPCTransport
import SDKInstances
import Systemd

/// A connection to a client, with the interface that instances and the bridge use.
final class ConnectionLink: ClientLink {
  private let connection: Connection
  let peer: Peer

  init(_ connection: Connection) {
    self.connection = connection
    peer = Peer(connection.peer, user: connection.allowance?.user.user ?? connection.peer.uid)
  }

  /// The peer's process if it was looked at, or if it never can be; otherwise `nil`.
  var seenProcess: PeerProcess? { connection.peer.process?.isSeen == false ? nil : peer.process }

  var unsentBytes: Int { connection.outboundBytes }
  var isClosed: Bool { connection.isClosed }
  var isStranger: Bool { connection.allowance?.isPooled ?? false }
  func send(_ line: [UInt8]) { connection.notify(text: line) }

  func writable(below bytes: Int) async {
    await withCheckedContinuation { continuation in
      connection.whenWritable(below: bytes) { continuation.resume() }
    }
  }

  func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON {
    try await connection.request(method: method, params: params, timeout: timeout)
  }
}

extension Peer {
  /// Creates the peer of a connection. Its process is examined on first access, and never if it could not be pinned:
  /// another process may have its number by then.
  ///
  /// - Parameter user: the user against whose quotas the peer counts.
  convenience init(_ credentials: PeerCredentials, user: UInt32) {
    let (pid, uid, gid, groups) = (credentials.pid, credentials.uid, credentials.gid, credentials.groups)
    guard let process = credentials.process else {
      self.init(pid: pid, uid: uid, gid: gid, groups: groups, user: user)
      return
    }
    if let seen = process.seen(as: PeerProcess.self) {
      self.init(pid: pid, uid: uid, gid: gid, groups: groups, user: user, process: seen)
      return
    }
    self.init(pid: pid, uid: uid, gid: gid, groups: groups, user: user) {
      process.once { PeerProcess(of: $0) } ?? PeerProcess()
    }
  }
}

extension PeerProcess {
  /// Reads the data that systemd and `/proc` currently have on the process with this number.
  fileprivate init(of pid: Int32) {
    let unit = PeerUnit.lookup(pid: pid)
    self.init(
      unit: unit.system, userUnit: unit.user.map { UserUnit(unit: $0.unit, uid: $0.uid) },
      executable: Self.target(of: "/proc/\(pid)/exe"))
  }

  /// Returns the target of a link; `nil` without permission to read it, as with programs of other users.
  private static func target(of link: String) -> String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &path, path.count)
    return count > 0 ? String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}

/// The peer of a connection on its way to the next daemon. Its unit stays the one in which it was first seen, although
/// its process may have ended since.
enum HandedPeer {
  /// The member of a connection's state with the peer's process.
  static let member = "process"

  /// Returns the process of a peer as JSON.
  static func json(of process: PeerProcess) -> JSON {
    var object = JSONObject()
    object["unit"] = process.unit.map(JSON.string)
    object["userUnit"] = process.userUnit.map { ["unit": .string($0.unit), "uid": JSON(Int($0.uid))] }
    object["executable"] = process.executable.map(JSON.string)
    return .object(object)
  }

  /// Returns the process of a peer as it was seen first; `nil` for one that was not seen.
  static func seen(_ pid: Int32, _ state: ConnectionHandOver) -> PinnedProcess? {
    state.program[member].map { PinnedProcess(pid: pid, seen: process(in: $0)) }
  }

  private static func process(in json: JSON) -> PeerProcess {
    let user = json["userUnit"]
    let uid = user?["uid"]?.intValue.flatMap { UInt32(exactly: $0) }
    return PeerProcess(
      unit: json["unit"]?.stringValue,
      userUnit: user?["unit"]?.stringValue.flatMap { unit in uid.map { .init(unit: unit, uid: $0) } },
      executable: json["executable"]?.stringValue)
  }
}
