import SDKProtocol

/// A change that waits for the writer, and the continuation that gets its result.
struct PendingCommit: Sendable {
  let change: InstanceChange
  let answer: CheckedContinuation<Result<CommitResult, SDKError>, Never>
}
