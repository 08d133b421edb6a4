import JSONRPC
import JSONRPCTransport
import SDKClient

/// An iterator over events.
actor EventReader {
  private var iterator: EventSequence.Iterator

  init(_ events: EventSequence) { iterator = events.makeAsyncIterator() }

  func next() async throws -> JSON {
    var iterator = iterator
    // Also after a cancellation: the iterator knows the cursor.
    defer { self.iterator = iterator }
    switch try await iterator.next() {
    case .event(let event): return try JSONValueEncoder.encode(event)
    case .unknown(let event): return event
    case .gap(let from, let resume):
      return ["type": "gap", "cursor": .string(resume), "from": from.map(JSON.string) ?? nil]
    case nil: return nil
    }
  }
}

/// The statuses of one attachment.
actor StatusReader {
  private var iterator: AsyncStream<DelegateStatus>.Iterator

  init(_ attachment: DelegateAttachment) { iterator = attachment.statuses.makeAsyncIterator() }

  func next() async -> JSON {
    var iterator = iterator
    defer { self.iterator = iterator }
    switch await iterator.next(isolation: #isolation) {
    case .attached: return ["state": "attached", "error": nil]
    case .detached(let error): return ["state": "detached", "error": .string(error.reason)]
    case .ended(let error): return ["state": "ended", "error": error.map { .string($0.reason) } ?? nil]
    case nil: return nil
    }
  }
}

extension SDKClientError {
  var json: JSON {
    var unknown = false
    if case .outcomeUnknown = self { unknown = true }
    var rpc: RPCError?
    if case .rpc(let error) = self { rpc = error }
    return [
      "reason": .string(reason), "retryable": .bool(isRetryable), "may_have_run": .bool(mayHaveRun),
      "unknown": .bool(unknown), "message": .string(description), "code": rpc.map { JSON($0.code) } ?? nil,
      "instance": rpc?.data["instance"] ?? nil, "retry_after": rpc?.data["retryAfter"] ?? nil,
    ]
  }
}

/// A command that names nothing.
struct Missing: Error {}

extension Optional {
  var required: Wrapped {
    get throws {
      guard let self else { throw Missing() }
      return self
    }
  }
}
