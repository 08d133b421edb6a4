extension DaemonReload.Result {
  /// The maximum number of instances in a list.
  static let longestList = 500

  /// Creates the result of a reload. Counts the full lists, then cuts them to `longestList`.
  public init(
    added: [InstanceID], changed: [InstanceID], removed: [InstanceID], unchanged: [InstanceID],
    problems: [DaemonReload.Problem]
  ) {
    counts = DaemonReload.Counts(
      added: added.count, changed: changed.count, removed: removed.count, unchanged: unchanged.count)
    self.added = Array(added.prefix(Self.longestList))
    self.changed = Array(changed.prefix(Self.longestList))
    self.removed = Array(removed.prefix(Self.longestList))
    // Cut the unchanged instances first: readers look for the other lists.
    let rest = max(0, 2 * Self.longestList - self.added.count - self.changed.count - self.removed.count)
    self.unchanged = Array(unchanged.prefix(min(rest, Self.longestList)))
    self.problems = Array(problems.prefix(50))
  }
}
