import CLinux
import CSystemd
import Glibc
import Linux

/// Socket activation, by `sd_listen_fds_with_names(3)`.
public enum ActivatedSockets {
  /// The descriptors that the service manager passed.
  public struct Passed: Sendable, Hashable {
    /// The listening sockets with a known name.
    public var sockets: [ActivatedSocket] = []
    /// The descriptors that were closed, with the reason.
    public var refused: [RefusedDescriptor] = []
  }

  /// Takes over the sockets that the service manager passed. Returns none if the daemon was started otherwise.
  ///
  /// Removes `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES` from the environment. No other thread may use the
  /// environment meanwhile: call this first in `main`. A second call returns nothing.
  ///
  /// Closes descriptors that have an unknown name or are not listening unix stream sockets. The manager may pass more
  /// descriptors than the daemon knows, such as those of a drop-in's `Sockets=`, so they are not an error.
  ///
  /// - Parameter isKnown: whether a descriptor's `FileDescriptorName=` is one that the daemon serves.
  public static func take(where isKnown: (String) -> Bool) throws(ActivationError) -> Passed {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count >= 0 else { throw .unreadable(SystemCallError("sd_listen_fds", count)) }
    let labels = consume(names, count: Int(count))
    let descriptors = labels.enumerated().map { (Self.firstDescriptor &+ Int32($0.offset), $0.element) }
    return adopt(descriptors, where: isKnown)
  }

  /// The number of the first passed descriptor, `SD_LISTEN_FDS_START`.
  static let firstDescriptor: Int32 = 3

  /// The name of descriptors for which the manager gave none.
  public static let unnamed = "unknown"

  /// Marks the usable descriptors close-on-exec and closes the others.
  static func adopt(_ descriptors: [(Int32, String)], where isKnown: (String) -> Bool) -> Passed {
    var passed = Passed()
    for (fileDescriptor, name) in descriptors {
      let reason: RefusedDescriptor.Reason? =
        if !isKnown(name) {
          .unknownName
        } else if !isListeningUnixStream(fileDescriptor) || cl_set_cloexec(fileDescriptor) != 0 {
          .notListening
        } else {
          nil
        }
      if let reason {
        close(fileDescriptor)
        passed.refused.append(RefusedDescriptor(fileDescriptor: fileDescriptor, name: name, reason: reason))
      } else {
        let path = UnixAddress.path(of: fileDescriptor)
        passed.sockets.append(ActivatedSocket(fileDescriptor: fileDescriptor, name: name, path: path))
      }
    }
    return passed
  }

  static func isListeningUnixStream(_ fileDescriptor: Int32) -> Bool {
    sd_is_socket(fileDescriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0
  }

  /// Copies and frees the array of strings that libsystemd made.
  private static func consume(
    _ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int
  ) -> [String] {
    guard let names else { return Array(repeating: unnamed, count: count) }
    defer { free(names) }
    return (0..<count).map { index in
      guard let name = names[index] else { return unnamed }
      defer { free(name) }
      return String(cString: name)
    }
  }
}
