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
