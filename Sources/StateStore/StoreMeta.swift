public import SDKProtocol

/// The facts about a state and its opening.
public struct StoreMeta: Sendable, Hashable {
  /// The random ID of the state, created with it. A restored backup or a rolled-back database gets a new ID, which
  /// invalidates earlier cursors.
  public var stateID: String
  /// The number of openings of this state after the first one, durable before `open` returns.
  public var restartCount: Int
  /// The root key that wraps the state's master key.
  public var rootKey: RootKeyOrigin
  /// The repair made by this opening; `nil` if the database was not damaged.
  public var repair: StateRepair?
  /// The time of the backup that became the state with this opening; `nil` if none did.
  public var copiedAt: Timestamp?
  /// The notice left by this opening if the state is not as sdkd last wrote it; otherwise `nil`.
  public var notice: StateNotice?

  /// Creates the facts about a state.
  public init(
    stateID: String, restartCount: Int, rootKey: RootKeyOrigin = .file, repair: StateRepair? = nil,
    copiedAt: Timestamp? = nil, notice: StateNotice? = nil
  ) {
    self.stateID = stateID
    self.restartCount = restartCount
    self.rootKey = rootKey
    self.repair = repair
    self.copiedAt = copiedAt
    self.notice = notice
  }
}
