import JSONRPC
import Synchronization

/// The reply to `rpc.discover`. It is made by the first call, so that the daemon starts without it.
final class DiscoveredDocument: Sendable {
  private let text = Mutex<[UInt8]?>(nil)
  private let build: @Sendable () -> JSON

  /// Creates a reply that `build` makes.
  init(_ build: @escaping @Sendable () -> JSON) { self.build = build }

  /// The reply as JSON text; `nil` before the first call has made it.
  var made: [UInt8]? { text.withLock { $0 } }

  /// Makes the reply and keeps its text.
  func make() -> JSON {
    let document = build()
    let bytes = JSONWriter.bytes(of: document)
    text.withLock { $0 = bytes }
    return document
  }
}
