import JSONRPC
import Synchronization

/// The reply to `rpc.discover`. It is made by the first call, so that the daemon starts without it.
final class DiscoveredDocument: Sendable {
  private let text = Mutex<[UInt8]?>(nil)
  private let build: @Sendable () -> JSON

  /// Creates a reply that `build` makes.
  init(_ build: @escaping @Sendable () -> JSON) { self.build = build }

  /// Returns the reply as JSON text. The first call makes it.
  func reply() -> [UInt8] {
    if let made = text.withLock({ $0 }) { return made }
    let bytes = JSONWriter.bytes(of: build())
    text.withLock { $0 = bytes }
    return bytes
  }

  /// Makes the document.
  func make() -> JSON { build() }
}
