import Glibc

/// The check of the socket's file: whether it exists, its owner and mode, and whether the caller may connect.
struct SocketCheck {
  let place: DaemonPlace
  let caller: Caller
  /// The command that starts the daemon's units, if they are not running.
  var cure: String?

  var finding: Finding {
    let path = place.socket
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == EACCES {
        return Finding(
          .failing, "socket", "\(caller.name) may not look into the directory of \(path).",
          advice: "ls -ld \(Self.directory(of: path))")
      }
      return Finding(
        .failing, "socket", "There is no socket at \(path).",
        advice: cure ?? place.systemctl("restart", "socket", byHand: place.startByHand))
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return Finding(.failing, "socket", "\(path) is no socket.", advice: "see what it is: ls -l \(path)")
    }
    let mode = String(status.st_mode & 0o777, radix: 8)
    let facts = "\(path), of \(Self.user(status.st_uid)):\(Self.group(status.st_gid)), mode \(mode)"
    guard access(path, W_OK) == 0 else {
      let isGroup = status.st_mode & S_IWGRP != 0
      return Finding(
        .failing, "socket", "\(caller.name) may not connect to \(facts).",
        advice: isGroup
          ? "usermod -aG \(Self.group(status.st_gid)) \(caller.name), and log in again"
          : place.unit == nil
            ? "chmod it" : place.systemctl("edit", "socket", byHand: "") + ", and set SocketMode= and SocketGroup=")
    }
    return Finding(.ok, "socket", "\(facts).")
  }

  private static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  private static func user(_ uid: uid_t) -> String {
    getpwuid(uid).map { String(cString: $0.pointee.pw_name) } ?? "\(uid)"
  }

  private static func group(_ gid: gid_t) -> String {
    getgrgid(gid).map { String(cString: $0.pointee.gr_name) } ?? "\(gid)"
  }
}
