import Glibc
import Linux

/// A copier of bytes from an input to a socket and from the socket to an output, until the socket's peer closes.
///
/// The end of the input becomes a half-close of the socket, so that responses in progress still arrive. At most 64 KiB
/// are buffered in each direction; beyond that, reading pauses.
struct StreamJoin {
  private static let limit = 64 << 10
  /// The maximum bytes of one write to the output. After `POLLOUT` a pipe accepts as many without blocking.
  private static let portion = 4096

  let input: CInt
  let output: CInt
  /// A connected socket in non-blocking mode.
  let socket: CInt

  private var toSocket: [UInt8] = []
  private var toOutput: [UInt8] = []
  private var inputHasEnded = false
  private var socketHasEnded = false
  private var isHalfClosed = false

  init(input: CInt, output: CInt, socket: CInt) {
    (self.input, self.output, self.socket) = (input, output, socket)
  }

  /// Copies bytes in both directions until the socket's peer has closed and all its bytes are written, or the output
  /// has no reader.
  ///
  /// - Throws: `SystemCallError`.
  func run() throws {
    var join = self
    while try join.step() {}
  }

  /// Waits for one descriptor and copies what can be copied. Returns `false` at the end.
  private mutating func step() throws -> Bool {
    if inputHasEnded, toSocket.isEmpty, !isHalfClosed {
      shutdown(socket, CInt(SHUT_WR))
      isHalfClosed = true
    }
    if socketHasEnded, toOutput.isEmpty { return false }
    let mayRead = !inputHasEnded && toSocket.count < Self.limit
    let events = (!socketHasEnded && toOutput.count < Self.limit ? POLLIN : 0) | (toSocket.isEmpty ? 0 : POLLOUT)
    var waiting = [
      pollfd(fd: mayRead ? input : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: events == 0 ? -1 : socket, events: Int16(events), revents: 0),
      pollfd(fd: output, events: toOutput.isEmpty ? 0 : Int16(POLLOUT), revents: 0),
    ]
    guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 else {
      guard errno == EINTR else { throw SystemCallError("poll", errno) }
      return true
    }
    // Without a reader there is nothing left to do.
    if waiting[2].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return false }
    if waiting[0].revents != 0 { inputHasEnded = !read(input, into: &toSocket) }
    if waiting[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, !socketHasEnded {
      socketHasEnded = !read(socket, into: &toOutput)
    }
    if waiting[1].revents & Int16(POLLOUT) != 0 { send() }
    if waiting[2].revents & Int16(POLLOUT) != 0 { return write() }
    return true
  }

  /// Appends the available bytes to `bytes`. Returns `false` at the end of the stream or after an error.
  private func read(_ descriptor: CInt, into bytes: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    if count > 0 { bytes += chunk[..<count] }
    return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
  }

  private mutating func send() {
    let count = toSocket.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    if count > 0 { toSocket.removeFirst(count) }
    if count < 0, errno != EAGAIN, errno != EINTR {
      // The peer takes nothing more; what it has sent is still read.
      toSocket = []
      inputHasEnded = true
    }
  }

  private mutating func write() -> Bool {
    let count = toOutput.withUnsafeBytes { Glibc.write(output, $0.baseAddress, min($0.count, Self.portion)) }
    if count > 0 { toOutput.removeFirst(count) }
    return count > 0 || errno == EAGAIN || errno == EINTR
  }
}
