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

/// The elements of one page of a reply, each encoded once.
struct ReplyPage<Element: JSONTextRepresentable> {
  private(set) var elements: [Element] = []
  private let limit: Int
  private var writer = JSONWriter(reserving: 8 << 10)

  /// Creates a page of at most `limit` elements.
  init(limit: Int) {
    self.limit = limit
    writer.write(raw: "[")
  }

  /// The array of the elements as JSON text.
  var text: [UInt8] {
    var ended = writer
    ended.write(raw: "]")
    return ended.bytes
  }

  /// Adds an element if it fits, and returns whether it did. The first element always fits.
  ///
  /// - Parameter short: returns a shorter form for an element that is too large for any page.
  mutating func add(_ element: consuming Element, short: (Element) -> Element = { $0 }) -> Bool {
    guard elements.count < limit else { return false }
    let end = writer.bytes.count
    if !elements.isEmpty { writer.write(raw: ",") }
    let start = writer.bytes.count
    element.write(to: &writer)
    if writer.bytes.count - start > ReplyBound.pageBytes {
      element = short(element)
      writer.truncate(to: start)
      element.write(to: &writer)
    }
    guard elements.isEmpty || writer.bytes.count <= ReplyBound.pageBytes else {
      writer.truncate(to: end)
      return false
    }
    elements.append(element)
    return true
  }
}
