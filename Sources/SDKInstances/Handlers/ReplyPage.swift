import JSONRPC
import SDKProtocol

/// The bounds of replies (`protocol.md`, "size").
enum ReplyBound {
  /// The size of a reply as JSON text.
  static let maximumBytes = 60 << 10
  /// The size of the elements of a page, which leaves room for what is around them.
  static let pageBytes = 48 << 10
  private static let unbounded: Set<String> = [RPCDiscover.name, DaemonMetrics.name]

  /// Checks the reply to a call.
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

  /// A page of so many elements at most.
  init(limit: Int) { self.limit = limit }

  /// The size of an element as JSON text.
  static func bytes(of element: Element) -> Int {
    (try? JSONValueEncoder.encode(element)).map { JSONWriter.bytes(of: $0).count } ?? 0
  }

  /// Adds an element if there is room for it. The first one always has room.
  ///
  /// - Parameter size: the element's size as JSON text, where it is known.
  mutating func add(_ element: Element, size: Int? = nil) -> Bool {
    bytes += (size ?? Self.bytes(of: element)) + 1
    guard elements.count < limit, elements.isEmpty || bytes <= ReplyBound.pageBytes else { return false }
    elements.append(element)
    return true
  }
}
