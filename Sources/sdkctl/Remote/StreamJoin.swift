import Glibc
import Linux

/// A rewriter of what a `StreamJoin` copies. Each function appends to what is sent, and returns `false` to end the
/// join once the output is written.
protocol StreamTranslator {
  /// Takes bytes of the input.
  mutating func readInput(_ bytes: ArraySlice<UInt8>, toSocket: inout [UInt8], toOutput: inout [UInt8]) -> Bool
  /// Takes bytes of the socket.
  mutating func readSocket(_ bytes: ArraySlice<UInt8>, toOutput: inout [UInt8]) -> Bool
}

/// A copier of bytes from an input to a socket and from the socket to an output, until the socket's peer closes.
///
/// The end of the input becomes a half-close of the socket, so that responses in progress still arrive, unless the join
/// ends with its input. Beyond 64 KiB that are buffered in a direction, reading pauses.
struct StreamJoin<Translator: StreamTranslator> {
  private static var limit: Int { 64 << 10 }
  /// The maximum bytes of one write to the output. After `POLLOUT` a pipe accepts as many without blocking.
  private static var portion: Int { 4096 }

  let input: CInt
  let output: CInt
  /// A connected socket in non-blocking mode.
  let socket: CInt
  private var translator: Translator
  /// Whether the end of the input ends the join at once.
  private let endsWithInput: Bool

  private var toSocket: [UInt8] = []
  private var toOutput: [UInt8] = []
  private var inputHasEnded = false
  private var socketHasEnded = false
  private var isHalfClosed = false
  /// Whether the translator has ended the join, and only the output is left to write.
  private var isEnding = false

  init(input: CInt, output: CInt, socket: CInt, translator: Translator, endsWithInput: Bool) {
    (self.input, self.output, self.socket) = (input, output, socket)
    (self.translator, self.endsWithInput) = (translator, endsWithInput)
  }

  /// Copies bytes in both directions until the socket's peer has closed and all its bytes are written, or the output
  /// has no reader.
  ///
  /// - Throws: `SystemCallError`.
  func run() throws {
    var join = self
    // The translator may have bytes from before the join.
    if !join.translator.readInput([], toSocket: &join.toSocket, toOutput: &join.toOutput) { join.end() }
    while try join.step() {}
  }

  /// Waits for one descriptor and copies what can be copied. Returns `false` at the end.
  private mutating func step() throws -> Bool {
    if inputHasEnded, toSocket.isEmpty, !isHalfClosed {
      shutdown(socket, CInt(SHUT_WR))
      isHalfClosed = true
    }
    if socketHasEnded, toOutput.isEmpty { return false }
    // Input that is answered without the socket waits for a reader of the output.
    let mayRead =
      !inputHasEnded && toSocket.count < Self.limit && (!endsWithInput || toOutput.count < Self.limit)
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
    if waiting[0].revents != 0 {
      inputHasEnded = !read(input) { $0.translator.readInput($1, toSocket: &$0.toSocket, toOutput: &$0.toOutput) }
      if inputHasEnded, endsWithInput, !isEnding {
        send()
        return false
      }
    }
    if waiting[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, !socketHasEnded {
      socketHasEnded = !read(socket) { $0.translator.readSocket($1, toOutput: &$0.toOutput) }
    }
    if waiting[1].revents & Int16(POLLOUT) != 0 { send() }
    if waiting[2].revents & Int16(POLLOUT) != 0 { return write() }
    return true
  }

  /// Gives the available bytes to `take`. Returns `false` at the end of the stream or after an error.
  private mutating func read(_ descriptor: CInt, _ take: (inout Self, ArraySlice<UInt8>) -> Bool) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    if count > 0, !take(&self, chunk[..<count]) {
      end()
      return false
    }
    return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
  }

  /// Reads nothing more, and ends the join when the output is written.
  private mutating func end() { (isEnding, inputHasEnded, socketHasEnded) = (true, true, true) }

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
