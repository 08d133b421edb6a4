/// A listening unix stream socket that the service manager passed.
public struct ActivatedSocket: Sendable, Hashable {
  /// The descriptor, closed by exec, in the blocking mode that the manager gave it.
  public let fileDescriptor: Int32
  /// `FileDescriptorName=` of the socket unit: by default the name of the unit.
  public let name: String
  /// The path that it is bound to; nil for an abstract name.
  public let path: String?
}
