/// Answers for instances until it is detached or goes away; a lost connection is made again by itself.
public final class DelegateAttachment: Sendable {
  /// How it stands, from now on: the present status first, then each change; ends after `ended`. For one reader, who
  /// need not keep up: of the changes that were not read the latest are kept.
  public let statuses: AsyncStream<DelegateStatus>

  private let keeper: DelegateKeeper
  /// Keeps it attached; `detach` waits for it.
  private let task: Task<Void, Never>

  init(_ keeper: DelegateKeeper) {
    self.keeper = keeper
    statuses = keeper.statuses
    task = Task { await keeper.run() }
  }

  deinit { task.cancel() }

  /// How it stands now.
  public var status: DelegateStatus { keeper.status }

  /// Answers no more, and is not waited for.
  ///
  /// - Throws: `SDKClientError` when the daemon could not be told; it notices the end of the connection.
  public func detach() async throws {
    let told = await keeper.detach()
    task.cancel()
    await task.value
    try told.get()
  }
}
