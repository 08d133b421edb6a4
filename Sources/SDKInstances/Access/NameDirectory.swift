import Glibc
import SDKProtocol
import Synchronization

/// From the names of users and groups to their numbers.
public protocol NameDirectory: Sendable {
  /// The uid of a user; `nil` when there is none of this name.
  func uid(ofUser name: String) -> UInt32?
  /// The gid of a group.
  func gid(ofGroup name: String) -> UInt32?
}

/// The system's users and groups, remembered for half a minute.
public final class SystemNameDirectory: NameDirectory {
  private struct Entry {
    var number: UInt32?
    var until: Timestamp
  }
  private let users = Mutex<[String: Entry]>([:])
  private let groups = Mutex<[String: Entry]>([:])
  private static let lifetime = 30.0
  private static let capacity = 4096

  /// The system's names.
  public init() {}

  public func uid(ofUser name: String) -> UInt32? {
    remembered(name, in: users) {
      var entry = passwd()
      return Self.grown { buffer, size in
        var found: UnsafeMutablePointer<passwd>?
        let status = getpwnam_r(name, &entry, buffer, size, &found)
        return (status, found?.pointee.pw_uid)
      }
    }
  }

  public func gid(ofGroup name: String) -> UInt32? {
    remembered(name, in: groups) {
      var entry = group()
      return Self.grown { buffer, size in
        var found: UnsafeMutablePointer<group>?
        let status = getgrnam_r(name, &entry, buffer, size, &found)
        return (status, found?.pointee.gr_gid)
      }
    }
  }

  private func remembered(_ name: String, in table: borrowing Mutex<[String: Entry]>, _ find: () -> UInt32?) -> UInt32?
  {
    let now = Timestamp.now
    if let known = table.withLock({ $0[name] }), known.until > now { return known.number }
    let number = find()
    table.withLock { entries in
      if entries.count >= Self.capacity { entries.removeAll() }
      entries[name] = Entry(number: number, until: now + Self.lifetime)
    }
    return number
  }

  /// Looks up with a buffer that grows until the entry fits.
  private static func grown(
    _ lookUp: (UnsafeMutablePointer<CChar>, Int) -> (status: Int32, number: UInt32?)
  ) -> UInt32? {
    var size = 1024
    while size <= 1 << 20 {
      let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
      defer { buffer.deallocate() }
      let found = lookUp(buffer, size)
      guard found.status == ERANGE else { return found.number }
      size *= 4
    }
    return nil
  }
}
