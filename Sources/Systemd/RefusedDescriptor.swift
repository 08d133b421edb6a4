/// A descriptor that the service manager passed and that was closed.
public struct RefusedDescriptor: Sendable, Hashable, CustomStringConvertible {
  /// Why a descriptor is not served.
  public enum Reason: Sendable, Hashable {
    /// Its `FileDescriptorName=` is none that the daemon knows.
    case unknownName
    /// It is no listening unix stream socket.
    case notListening
  }

  /// The number that it had.
  public let fileDescriptor: Int32
  /// Its `FileDescriptorName=`.
  public let name: String
  /// Why it was closed.
  public let reason: Reason

  /// The closed descriptor, and the setting of the socket unit to change.
  public var description: String {
    let subject = "Descriptor \(fileDescriptor) (\(name)) from the service manager was closed"
    return switch reason {
    case .unknownName:
      "\(subject): its name is unknown. If it is the control socket, set FileDescriptorName=sdkd.socket in its unit."
    case .notListening:
      "\(subject): it is no listening unix stream socket. Its unit needs ListenStream= with a path, and Accept=no."
    }
  }
}
