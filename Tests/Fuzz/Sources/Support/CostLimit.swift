import Glibc
import JSONRPC

/// Fails inputs whose cost is out of proportion to their size, long before they would cost seconds.
///
/// The cost is CPU time of the whole process, measured in what this machine needs for plain JSON, so that neither a
/// slow nor a busy machine matters.
enum CostLimit {
  /// Bytes that every input counts besides its own: tasks, channels and keys cost the same for all.
  private static let fixedBytes = 64 << 10
  /// The measurements of a cost before it counts, since another process may disturb one of them.
  private static let attempts = 4

  private nonisolated(unsafe) static var secondsPerByte = 0.0

  /// Measures what plain JSON costs.
  static func calibrate() { secondsPerByte = plainCost() }

  private static func plainCost() -> Double {
    let number = "{\"name\":\"some text of usual length\",\"count\":12345,\"list\":[true,null,1.5]},"
    let text = Array("[\(String(repeating: number, count: 1000))0]".utf8)
    return (0..<5).map { _ in cost { _ = try? JSONParser.parse(text) } }.min()! / Double(text.count)
  }

  /// Runs `body` with an input of this size. Runs it again if the cost seems too high.
  ///
  /// - Parameter factor: the cost that is allowed, as a multiple of the cost of plain JSON of the same size.
  static func check(_ bytes: Int, factor: Double, _ body: () -> Void) {
    var limit = factor * secondsPerByte * Double(bytes + fixedBytes)
    var least = Double.infinity
    for _ in 0..<attempts {
      least = min(least, cost(body))
      if least <= limit { return }
      // The machine may be slower now than at the start.
      limit = max(limit, factor * plainCost() * Double(bytes + fixedBytes))
    }
    fatalError(
      "An input that counts as \(bytes) bytes costs \(least) s of CPU time; at most \(limit) s are in proportion.")
  }

  private static func cost(_ body: () -> Void) -> Double {
    let start = now
    body()
    return now - start
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
