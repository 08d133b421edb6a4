import SDKProtocol

/// A change that waits for the writer, and whom to tell.
struct PendingCommit: Sendable {
  let change: InstanceChange
  let answer: CheckedContinuation<Result<CommitResult, SDKError>, Never>
}
