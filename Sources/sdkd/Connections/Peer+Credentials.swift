import Glibc
import JSONRPCTransport
import SDKInstances
import Systemd

extension Peer {
  /// Creates the peer of a connection. Its process is examined on first access, and never if it could not be pinned:
  /// another process may have its number by then.
  convenience init(_ credentials: PeerCredentials) {
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
