internal import Glibc
public import JSONRPC

/// A single call on its own connection, made in the calling thread.
///
/// For a program that makes one call and exits: it starts no thread and no concurrency runtime, which would take longer
/// than the call. Do not use it in a program with tasks, because it blocks their threads.
public struct BlockingCall {
  private let descriptor: CInt
  private let deadline: ContinuousClock.Instant
  private var framer: Framer
  private var isSent = false

  /// Connects, calls, and waits for the result.
  ///
  /// - Parameters:
  ///   - timeout: the time limit for connecting, sending and receiving together.
  ///   - checkServer: called with the user and process of the listener before anything is sent; throw to send nothing.
  /// - Throws: the daemon's `RPCError`, `ClientConnectionError`, or what `checkServer` throws.
  public static func run(
    path: String, method: String, params: JSON? = nil, timeout: Duration,
    maxLineBytes: Int = ClientSettings.standard.maxLineBytes,
    checkServer: (_ uid: UInt32, _ pid: Int32) throws -> Void = { _, _ in }
  ) throws -> JSON {
    let deadline = ContinuousClock.now + timeout
    let descriptor = try connect(path, deadline)
    defer { close(descriptor) }
    let server = PeerCredentials(descriptor: descriptor)
    try checkServer(server?.uid ?? .max, server?.pid ?? 0)
    var call = BlockingCall(
      descriptor: descriptor, deadline: deadline, framer: Framer(limit: maxLineBytes, framing: .lines))
    let text = RPCText.request(id: .number(JSONNumber(1)), method: method, params: params ?? [:])
    try call.send(text + [UInt8(ascii: "\n")])
    return try call.result()
  }

  private static func connect(_ path: String, _ deadline: ContinuousClock.Instant) throws -> CInt {
    while true {
      if let descriptor = try ClientSocket.attempt(path) { return descriptor }
      guard ContinuousClock.now < deadline else { throw ClientConnectionError.timeout }
      poll(nil, 0, 2)
    }
  }

  private mutating func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        try wait(POLLOUT)
      } else if errno != EINTR {
        // Don't fail yet: an error that the daemon sent before it closed can still be read.
        return
      }
    }
    isSent = true
  }

  private mutating func result() throws -> JSON {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count > 0 {
        framer.append(chunk[..<count])
        if let result = try answer() { return try result.get() }
      } else if count < 0, errno == EAGAIN {
        try wait(POLLIN)
      } else if count == 0 || errno != EINTR {
        // A draining daemon reads no more. It runs nothing that it has not received whole.
        throw isSent ? ClientConnectionError.closed : .notSent
      }
    }
  }

  private mutating func answer() throws -> Result<JSON, RPCError>? {
    while let output = framer.next() {
      guard case .frame(let line) = output else {
        throw ClientConnectionError.badMessage("a line is longer than \(framer.limit) bytes.")
      }
      let message: JSON
      do { message = try JSONParser.parse(line) } catch { throw ClientConnectionError.badMessage("\(error)") }
      switch RPCMessage(message) {
      case .response(.number(let id), let result) where id.integer == 1: return result
      // The daemon could not read the id.
      case .response(.null, .failure(let error)): return .failure(error)
      default: break
      }
    }
    return nil
  }

  private func wait(_ events: CInt) throws {
    let (seconds, attoseconds) = (deadline - .now).components
    guard seconds >= 0, attoseconds >= 0 else { throw ClientConnectionError.timeout }
    let milliseconds = seconds < 3600 ? CInt(seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1) : 3_600_000
    var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    poll(&polled, 1, milliseconds)
  }
}
