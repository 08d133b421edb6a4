/// The destination of a response.
public enum AnswerDestination: Sendable, Hashable {
  /// A message of its own: the response is written at once, not collected in a batch.
  case single
  /// The batch with this number, which is written when it is complete.
  case batch(Int)
  /// No destination: the call is a notification, and its response is discarded.
  case discarded
}

/// The responses of incomplete batches.
struct BatchAnswers<Call> {
  /// The responses of a batch, and the calls that produced them.
  struct Complete {
    var texts: [[UInt8]]
    var calls: [Call]
  }

  private struct Batch {
    var missing: Int
    var complete: Complete
  }

  private var batches: [Int: Batch] = [:]
  private var last = 0
  /// The bytes of all stored responses.
  private(set) var byteCount = 0

  var isEmpty: Bool { batches.isEmpty }

  /// Opens a batch that is complete after `expected` responses. A batch that expects none is not stored and has no
  /// response.
  ///
  /// - Parameter texts: the responses that another process has added.
  mutating func open(expected: Int, with texts: [[UInt8]] = []) -> AnswerDestination {
    last += 1
    guard expected > 0 else { return .batch(last) }
    batches[last] = Batch(missing: expected, complete: Complete(texts: texts, calls: []))
    byteCount += texts.reduce(0) { $0 + $1.count }
    return .batch(last)
  }

  /// The responses that an incomplete batch has, and the calls that produced them; `nil` if there is no such batch.
  subscript(number: Int) -> Complete? { batches[number]?.complete }

  /// Adds a response and the call that produced it. Removes and returns the batch if it is now complete, else returns
  /// `nil`.
  mutating func add(_ text: [UInt8], from call: Call?, to number: Int) -> Complete? {
    guard var batch = batches.removeValue(forKey: number) else { return nil }
    batch.missing -= 1
    batch.complete.texts.append(text)
    byteCount += text.count
    if let call { batch.complete.calls.append(call) }
    if batch.missing == 0 {
      byteCount -= batch.complete.texts.reduce(0) { $0 + $1.count }
      return batch.complete
    }
    batches[number] = batch
    return nil
  }
}
