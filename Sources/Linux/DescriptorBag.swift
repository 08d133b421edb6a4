internal import CLinux
internal import Glibc

/// Descriptors and bytes that wait in one end of a socket pair, so that another process can take them over with a single
/// descriptor.
///
/// The kernel keeps them while the end is open, even after the process that sent them has ended.
public enum DescriptorBag {
  /// The contents of a bag.
  public struct Contents: Sendable {
    /// The bytes; `nil` if they are missing or too long.
    public var state: [UInt8]?
    /// The descriptors, which the caller must close. They are closed by exec.
    public var descriptors: [CInt]

    /// Creates contents.
    public init(state: [UInt8]?, descriptors: [CInt]) {
      self.state = state
      self.descriptors = descriptors
    }
  }

  /// The largest size of the bytes.
  public static let maximumStateBytes = 64 << 20

  /// Puts duplicates of the descriptors into a new bag.
  ///
  /// - Parameter state: the bytes, at most `maximumStateBytes`. They are in memory only.
  /// - Returns: the bag's end, which is closed by exec.
  public static func pack(_ descriptors: [CInt], state: [UInt8]) throws(SystemCallError) -> OwnedDescriptor {
    var ends: [CInt] = [-1, -1]
    try check("socketpair", cl_socket_pair(&ends))
    let (sending, receiving) = (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    defer { sending.close() }
    let file = OwnedDescriptor(try check("memfd_create", cl_memory_file("sdkd.bag")))
    defer { file.close() }
    try write(state, to: file.raw)
    var rest = [file.raw] + descriptors
    while !rest.isEmpty {
      let next = Array(rest.prefix(Int(CL_MOST_DESCRIPTORS)))
      try check("sendmsg", cl_send_descriptors(sending.raw, next, next.count))
      rest.removeFirst(next.count)
    }
    return receiving
  }

  /// Takes everything out of a bag.
  ///
  /// - Parameter limit: the number of descriptors beyond which further ones are closed.
  public static func unpack(_ bag: CInt, limit: Int) -> Contents {
    var contents = Contents(state: nil, descriptors: [])
    var isFirst = true
    var room = [CInt](repeating: -1, count: Int(CL_MOST_DESCRIPTORS))
    // Messages without descriptors, which a bag never has, must not make the loop longer.
    for _ in 0...(limit / Int(CL_MOST_DESCRIPTORS) + 2) {
      let count = cl_receive_descriptors(bag, &room)
      if count == -ENODATA { break }
      guard count >= 0 else {
        // Some did not fit into the process's limit. What follows may.
        if count == -EMSGSIZE { continue } else { break }
      }
      var received = room.prefix(Int(count))
      if isFirst, let file = received.popFirst() {
        contents.state = read(file)
        close(file)
      }
      isFirst = false
      let taken = received.prefix(max(0, limit - contents.descriptors.count))
      contents.descriptors += taken
      for descriptor in received.dropFirst(taken.count) { close(descriptor) }
    }
    return contents
  }

  private static func write(_ bytes: [UInt8], to file: CInt) throws(SystemCallError) {
    guard bytes.count <= maximumStateBytes else { throw SystemCallError("write to a bag", EFBIG) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw SystemCallError("write to a bag", errno)
      }
      rest.removeFirst(count)
    }
  }

  /// Returns the bytes of a file in memory; `nil` for any other descriptor, which could block.
  private static func read(_ file: CInt) -> [UInt8]? {
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 0,
      lseek(file, 0, SEEK_SET) == 0
    else { return nil }
    return try? BoundedFile.contents(of: file, limit: maximumStateBytes)
  }

  @discardableResult
  private static func check(_ call: String, _ status: CInt) throws(SystemCallError) -> CInt {
    guard status >= 0 else { throw SystemCallError(call, status) }
    return status
  }
}
