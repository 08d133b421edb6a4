/// What the store knows of itself.
public struct StoreMeta: Sendable, Hashable {
  /// Random, made with the state and as old as it is; cursors of another state are told by it.
  public var stateID: String
  /// How often this state has been opened after the first time; durable before `open` returns.
  public var restartCount: Int

  /// A state's own data.
  public init(stateID: String, restartCount: Int) {
    self.stateID = stateID
    self.restartCount = restartCount
  }
}
