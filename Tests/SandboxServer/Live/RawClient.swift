import Foundation
import Glibc

/// A TCP connection to 127.0.0.1, without a client library in between.
///
/// Blocking calls run on a thread of their own each. The server in the same process needs the few threads of Swift's
/// and Dispatch's pools.
final class RawClient: Sendable {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var deadline = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw Failure(number: errno) }
  }

  deinit { close(descriptor) }

  struct Failure: Error {
    let number: Int32
  }

  func send(_ bytes: Data) async throws {
    try await blocking { descriptor in
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = rest.withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { throw Failure(number: errno) }
        rest = rest.dropFirst(sent)
      }
    }
  }

  /// Reads until the server closes the connection.
  func readToEnd() async throws -> Data {
    try await blocking { descriptor in
      var all = Data()
      while true {
        let chunk = try Self.receive(descriptor)
        if chunk.isEmpty { return all }
        all += chunk
      }
    }
  }

  /// Returns the next bytes to arrive; empty once the server has closed the connection.
  func read() async throws -> Data {
    try await blocking { try Self.receive($0) }
  }

  /// Reads one response, up to its Content-Length. The connection stays open.
  func readResponse() async throws -> RawResponse {
    try await blocking { descriptor in
      var all = Data()
      while true {
        if let response = RawResponse(all), response.isWhole { return response }
        let chunk = try Self.receive(descriptor)
        guard !chunk.isEmpty else { throw Failure(number: ECONNRESET) }
        all += chunk
      }
    }
  }

  private static func receive(_ descriptor: Int32) throws -> Data {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw Failure(number: errno) }
    return Data(buffer.prefix(count))
  }

  private func blocking<T: Sendable>(_ work: @escaping @Sendable (Int32) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [self] in
        continuation.resume(with: Result { try work(descriptor) })
      }
    }
  }
}
