import CLinux
import CSystemd
import Glibc

/// Socket activation, by `sd_listen_fds_with_names(3)`.
public enum ActivatedSockets {
  /// Takes over the sockets that the service manager passed; none if the daemon was started otherwise.
  ///
  /// Removes `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES` from the environment, which no other thread may
  /// read or change meanwhile: call it first in `main`. A second call answers with nothing.
  ///
  /// If one of them is of the wrong kind all are closed, since a daemon that serves half of its sockets is
  /// harder to understand than one that says what is wrong.
  public static func take() throws(ActivationError) -> [ActivatedSocket] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count >= 0 else { throw .unreadable(SystemCallError("sd_listen_fds", count)) }
    let labels = consume(names, count: Int(count))
    let descriptors = labels.enumerated().map { (Self.firstDescriptor &+ Int32($0.offset), $0.element) }
    return try adopt(descriptors)
  }

  /// `SD_LISTEN_FDS_START`.
  static let firstDescriptor: Int32 = 3

  /// Checks the descriptors and marks them to be closed by exec; closes all of them before it throws.
  static func adopt(_ descriptors: [(Int32, String)]) throws(ActivationError) -> [ActivatedSocket] {
    var sockets: [ActivatedSocket] = []
    for (fileDescriptor, name) in descriptors {
      guard isListeningUnixStream(fileDescriptor), cl_set_cloexec(fileDescriptor) == 0 else {
        for (other, _) in descriptors { close(other) }
        throw .wrongSocket(fileDescriptor: fileDescriptor, name: name)
      }
      let path = UnixAddress.path(of: fileDescriptor)
      sockets.append(ActivatedSocket(fileDescriptor: fileDescriptor, name: name, path: path))
    }
    return sockets
  }

  static func isListeningUnixStream(_ fileDescriptor: Int32) -> Bool {
    sd_is_socket(fileDescriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0
  }

  /// Copies and frees the array of strings that libsystemd made.
  private static func consume(
    _ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int
  ) -> [String] {
    guard let names else { return Array(repeating: "unknown", count: count) }
    defer { free(names) }
    return (0..<count).map { index in
      guard let name = names[index] else { return "unknown" }
      defer { free(name) }
      return String(cString: name)
    }
  }
}
