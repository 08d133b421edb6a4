import Glibc
import JSONRPCTransport
import SDKInstances
import Systemd

extension Peer {
  /// The peer of a connection. Its process is looked at when somebody first asks, and never if it could not be pinned:
  /// its number may belong to another process by then.
  init(_ credentials: PeerCredentials) {
    let (pid, uid, gid, groups) = (credentials.pid, credentials.uid, credentials.gid, credentials.groups)
    guard let process = credentials.process else {
      self.init(pid: pid, uid: uid, gid: gid, groups: groups)
      return
    }
    self.init(pid: pid, uid: uid, gid: gid, groups: groups) {
      process.once { PeerProcess(of: $0) } ?? PeerProcess()
    }
  }
}

extension PeerProcess {
  /// What systemd and `/proc` say now of the process with this number.
  fileprivate init(of pid: Int32) {
    let unit = PeerUnit.lookup(pid: pid)
    self.init(
      unit: unit.system, userUnit: unit.user.map { UserUnit(unit: $0.unit, uid: $0.uid) },
      executable: Self.target(of: "/proc/\(pid)/exe"))
  }

  /// Where a link leads; `nil` when we may not see it, as with programs of other users.
  private static func target(of link: String) -> String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &path, path.count)
    return count > 0 ? String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}
