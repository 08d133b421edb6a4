import JSONRPC
import SDKProtocol

/// The size limits of replies (sdkd-protocol(7)).
enum ReplyBound {
  /// The maximum size of a reply as JSON text, in bytes.
  static let maximumBytes = 60 << 10
  /// The maximum total size of a page's elements, in bytes. It leaves room for the rest of the reply.
  static let pageBytes = 48 << 10
  private static let unbounded: Set<String> = [RPCDiscover.name, DaemonMetrics.name]

  /// Checks the size of the reply to a call.
  ///
  /// - Throws: `replyTooLarge`.
  static func check(_ reply: [UInt8], to method: any SDKMethod.Type) throws(SDKError) {
    guard reply.count > maximumBytes, !unbounded.contains(method.name) else { return }
    let isWrite = if case .write = method.ordering { true } else { false }
    throw SDKError(
      .limit, .replyTooLarge,
      "The reply to \(method.name) has \(reply.count) bytes, and at most \(maximumBytes) are sent. "
        + (isWrite ? "What was asked for was done." : "Ask for less: with limit, or for one thing at a time."))
  }
}

/// The elements of one page of a reply.
struct ReplyPage<Element: Encodable> {
  private(set) var elements: [Element] = []
  private let limit: Int
  private var bytes = 0

  /// Creates a page of at most `limit` elements.
  init(limit: Int) { self.limit = limit }

  /// Returns the size of an element as JSON text, in bytes.
  static func bytes(of element: Element) -> Int {
    (try? JSONValueEncoder.encode(element)).map { JSONWriter.bytes(of: $0).count } ?? 0
  }

  /// Adds an element if it fits, and returns whether it did. The first element always fits.
  ///
  /// - Parameter size: the element's size as JSON text, where it is known.
  mutating func add(_ element: Element, size: Int? = nil) -> Bool {
    bytes += (size ?? Self.bytes(of: element)) + 1
    guard elements.count < limit, elements.isEmpty || bytes <= ReplyBound.pageBytes else { return false }
    elements.append(element)
    return true
  }
}
