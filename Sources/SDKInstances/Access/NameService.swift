import Glibc

/// The system's name service (nsswitch.conf(5)). A look-up can block until a directory server responds.
public enum NameService {
  /// The result of a look-up.
  public enum Answer: Sendable, Hashable {
    /// The number of the user or group.
    case number(UInt32)
    /// No user or group has this name.
    case unknown
    /// The name service failed, so a number found before stays valid. Any status other than 0 means this: glibc returns
    /// `ENOENT` while the server of a directory is down.
    case failed
  }

  /// Looks a name up. Blocks the calling thread.
  public static func lookUp(_ name: SystemName) -> Answer {
    switch name.database {
    case .users:
      var entry = passwd()
      return withGrowingBuffer { buffer, size in
        var found: UnsafeMutablePointer<passwd>?
        let status = getpwnam_r(name.text, &entry, buffer, size, &found)
        return (status, found?.pointee.pw_uid)
      }
    case .groups:
      var entry = group()
      return withGrowingBuffer { buffer, size in
        var found: UnsafeMutablePointer<group>?
        let status = getgrnam_r(name.text, &entry, buffer, size, &found)
        return (status, found?.pointee.gr_gid)
      }
    case .uids:
      guard let uid = UInt32(name.text) else { return .unknown }
      var entry = passwd()
      return withGrowingBuffer { buffer, size in
        var found: UnsafeMutablePointer<passwd>?
        let status = getpwuid_r(uid, &entry, buffer, size, &found)
        return (status, found?.pointee.pw_uid)
      }
    }
  }

  /// Looks up with a buffer that grows until the entry fits.
  static func withGrowingBuffer(
    _ lookUp: (UnsafeMutablePointer<CChar>, Int) -> (status: Int32, number: UInt32?)
  ) -> Answer {
    var size = 1024
    while size <= 1 << 20 {
      let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
      defer { buffer.deallocate() }
      let found = lookUp(buffer, size)
      if let number = found.number { return .number(number) }
      switch found.status {
      case 0: return .unknown
      case ERANGE: size *= 4
      default: return .failed
      }
    }
    return .failed
  }
}
