/// Where an answer goes.
public enum AnswerDestination: Sendable, Hashable {
  /// Out at once, on a line of its own.
  case single
  /// To the others of its batch.
  case batch(Int)
}

/// The answers of batches that are not complete.
struct BatchAnswers<Call> {
  /// A batch whose last answer has come.
  struct Complete {
    var texts: [[UInt8]]
    var calls: [Call]
  }

  private struct Batch {
    var missing: Int
    var complete = Complete(texts: [], calls: [])
  }

  private var batches: [Int: Batch] = [:]
  private var last = 0
  /// The bytes of all answers in it.
  private(set) var byteCount = 0

  var isEmpty: Bool { batches.isEmpty }

  /// Opens a batch that `expected` answers complete; one that expects none is never heard of again.
  mutating func open(expected: Int) -> AnswerDestination {
    last += 1
    if expected > 0 { batches[last] = Batch(missing: expected) }
    return .batch(last)
  }

  /// Adds an answer, and the call it came from, and gives the batch out when it was the last.
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
