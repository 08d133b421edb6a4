public import SDKProtocol

/// What the store knows of itself.
public struct StoreMeta: Sendable, Hashable {
  /// Random, made with the state and as old as it is, another one after a copy was restored; cursors of another state
  /// are told by it.
  public var stateID: String
  /// How often this state has been opened after the first time; durable before `open` returns.
  public var restartCount: Int
  /// Which root key it lies under.
  public var rootKey: RootKeyOrigin
  /// That the database was damaged and replaced when it was opened.
  public var repair: StateRepair?
  /// The moment of the copy that has become the state with this opening; `nil` if none has.
  public var copiedAt: Timestamp?
  /// That the state is not as it was left when it was last closed.
  public var notice: StateNotice?

  /// A state's own data.
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
