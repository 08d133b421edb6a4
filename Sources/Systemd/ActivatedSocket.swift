/// A listening unix stream socket that the service manager passed.
public struct ActivatedSocket: Sendable, Hashable {
  /// The descriptor. It is closed by exec and has the blocking mode that the manager gave it.
  public let fileDescriptor: Int32
  /// The `FileDescriptorName=` of the socket unit, by default the name of the unit.
  public let name: String
  /// The path that the socket is bound to; nil for an abstract name.
  public let path: String?
}
