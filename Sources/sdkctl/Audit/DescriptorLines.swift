import Glibc
import Linux

/// The lines of a file or pipe, as they come. Lines over 1 MiB, longer than any audit record, are skipped.
struct DescriptorLines {
  private static let longest = 1 << 20
  private let descriptor: CInt
  private let waits: Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var isTooLong = false

  /// Creates a reader of the lines of a descriptor.
  ///
  /// - Parameter waits: whether to wait for more at the end, as in a log that is still being written.
  init(descriptor: CInt, waits: Bool = false) {
    self.descriptor = descriptor
    self.waits = waits
  }

  /// Returns the next line without its newline; `nil` when there are no more.
  ///
  /// - Parameter beforeWait: called each time the reader is about to wait at the end.
  mutating func next(beforeWait: () throws -> Void = {}) throws -> String? {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        if isTooLong {
          isTooLong = false
          continue
        }
        return String(decoding: buffer[start..<end], as: UTF8.self)
      }
      buffer.removeFirst(start)
      start = 0
      if buffer.count > Self.longest {
        buffer = []
        isTooLong = true
      }
      guard try read(beforeWait) else {
        // The last line of a finished file may lack a newline.
        guard !buffer.isEmpty, !isTooLong else { return nil }
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
      }
    }
  }

  private mutating func read(_ beforeWait: () throws -> Void) throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count > 0 {
        buffer += chunk[..<count]
        return true
      }
      if count == 0 {
        guard waits else { return false }
        try beforeWait()
        usleep(200_000)
      } else if errno != EINTR {
        throw CommandFailure.input("The records can't be read: \(SystemCallError.text(of: errno)).")
      }
    }
  }
}
