import CLinux
import CSystemd
import Glibc
public import Linux

/// Socket activation, by `sd_listen_fds_with_names(3)`.
public enum ActivatedSockets {
  /// The descriptors that the service manager passed.
  public struct Passed: Sendable, Hashable {
    /// The listening sockets with a known name.
    public var sockets: [ActivatedSocket] = []
    /// The descriptors with the name of the descriptor store, which are closed by exec and belong to the caller.
    public var stored: [Int32] = []
    /// The descriptors that were closed, with the reason.
    public var refused: [RefusedDescriptor] = []

    /// The number of sentences about the closed descriptors. A descriptor store can hold thousands.
    static let most = 8

    /// Sentences about the closed descriptors, one for each name and reason, and one about what has no room.
    public var refusals: [String] {
      let groups = Dictionary(grouping: refused) { RefusedDescriptor.Group(name: $0.name, reason: $0.reason) }.values
      let sorted = groups.sorted { ($0.first?.fileDescriptor ?? 0) < ($1.first?.fileDescriptor ?? 0) }
      let rest = sorted.dropFirst(Self.most).reduce(0) { $0 + $1.count }
      return sorted.prefix(Self.most).compactMap { $0.first?.description(count: $0.count) }
        + (rest > 0 ? ["\(rest) descriptors of other names from the service manager were closed."] : [])
    }

    /// The names of the closed descriptors, under which the service manager may keep them in the descriptor store.
    public var refusedNames: [String] { Array(Set(refused.map(\.name)).sorted().prefix(Self.mostNames)) }

    /// The number of names that are removed from the descriptor store at a start.
    static let mostNames = 256
  }

  /// Takes over the sockets that the service manager passed. Returns none if the daemon was started otherwise.
  ///
  /// Removes `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES` from the environment. No other thread may use the
  /// environment meanwhile: call this first in `main`. A second call returns nothing.
  ///
  /// Closes descriptors that have an unknown name or are not listening unix stream sockets. The manager may pass more
  /// descriptors than the daemon knows, such as those of a drop-in's `Sockets=`, so they are not an error.
  ///
  /// - Parameters:
  ///   - storeName: the name of descriptors that an earlier process has left in the descriptor store.
  ///   - isKnown: whether a descriptor's `FileDescriptorName=` is one that the daemon serves.
  public static func take(
    stored storeName: String? = nil, where isKnown: (String) -> Bool
  ) throws(ActivationError) -> Passed {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count >= 0 else { throw .unreadable(SystemCallError("sd_listen_fds", count)) }
    let labels = consume(names, count: Int(count))
    let descriptors = labels.enumerated().map { (Self.firstDescriptor &+ Int32($0.offset), $0.element) }
    return adopt(descriptors, stored: storeName, where: isKnown)
  }

  /// The number of the first passed descriptor, `SD_LISTEN_FDS_START`.
  public static let firstDescriptor: Int32 = 3

  /// The name of descriptors for which the manager gave none.
  public static let unnamed = "unknown"

  /// Marks the usable descriptors close-on-exec and closes the others.
  static func adopt(
    _ descriptors: [(Int32, String)], stored storeName: String? = nil, where isKnown: (String) -> Bool
  ) -> Passed {
    var passed = Passed()
    for (fileDescriptor, name) in descriptors {
      if name == storeName, cl_set_cloexec(fileDescriptor) == 0 {
        passed.stored.append(fileDescriptor)
        continue
      }
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

/// A listening unix stream socket that the service manager passed.
public struct ActivatedSocket: Sendable, Hashable {
  /// The descriptor. It is closed by exec and has the blocking mode that the manager gave it.
  public let fileDescriptor: Int32
  /// The `FileDescriptorName=` of the socket unit, by default the name of the unit.
  public let name: String
  /// The path that the socket is bound to; nil for an abstract name.
  public let path: String?
}

/// An error in the sockets that the service manager passed.
public enum ActivationError: Error, Hashable, CustomStringConvertible {
  /// `LISTEN_FDS` or a related variable is invalid.
  case unreadable(SystemCallError)
  /// More sockets than the daemon serves: clients of the others would wait for ever.
  case tooMany(count: Int)

  /// A description of the error and of the change to make in the socket unit.
  public var description: String {
    switch self {
    case .unreadable(let error):
      "the sockets passed by the service manager can't be read (\(error))"
    case .tooMany(let count):
      "the service manager passed \(count) sockets, and one is served: a drop-in that moves the socket needs an empty "
        + "ListenStream= before its own"
    }
  }
}

/// A descriptor that the service manager passed and the daemon closed.
public struct RefusedDescriptor: Sendable, Hashable, CustomStringConvertible {
  /// The reason for closing a descriptor.
  public enum Reason: Sendable, Hashable {
    /// The daemon does not know its `FileDescriptorName=`.
    case unknownName
    /// It is not a listening unix stream socket.
    case notListening
  }

  /// The number of the closed descriptor.
  public let fileDescriptor: Int32
  /// The `FileDescriptorName=` of the descriptor.
  public let name: String
  /// The reason for closing it.
  public let reason: Reason

  /// A message with the closed descriptor and the setting of the socket unit to change.
  public var description: String { description(count: 1) }

  /// Descriptors that have the same message.
  struct Group: Hashable {
    let name: String
    let reason: Reason
  }

  /// Returns the message for so many descriptors of this name.
  func description(count: Int) -> String {
    let subject =
      count == 1
      ? "Descriptor \(fileDescriptor) (\(name)) from the service manager was closed"
      : "\(count) descriptors (\(name)) from the service manager were closed"
    return switch reason {
    case .unknownName:
      "\(subject): the name is unknown. If it is the control socket, set FileDescriptorName=sdkd.socket in its unit."
    case .notListening:
      "\(subject): not a listening unix stream socket. Its unit needs ListenStream= with a path, and Accept=no."
    }
  }
}
