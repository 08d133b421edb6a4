/// The attachment of a delegate, which answers for instances until it is detached or this object is released. A lost
/// connection is reopened automatically.
public final class DelegateAttachment: Sendable {
  /// The statuses: the current one first, then each change; ends after `ended`. For a single reader; of the unread
  /// statuses the latest 16 are kept.
  public let statuses: AsyncStream<DelegateStatus>

  private let keeper: DelegateKeeper
  /// The task that keeps the delegate attached; `detach` waits for its end.
  private let task: Task<Void, Never>

  init(_ keeper: DelegateKeeper) {
    self.keeper = keeper
    statuses = keeper.statuses
    task = Task { await keeper.run() }
  }

  deinit { task.cancel() }

  /// The current status.
  public var status: DelegateStatus { keeper.status }

  /// Detaches the delegate. The daemon sends it no further questions and does not wait for its return.
  ///
  /// - Throws: `SDKClientError` when the call to the daemon failed. The connection is closed all the same, which the
  ///   daemon notices.
  public func detach() async throws {
    let told = await keeper.detach()
    task.cancel()
    await task.value
    try told.get()
  }
}
