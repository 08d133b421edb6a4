/// A lock on the directory of a state that can't be opened. It lasts for the lifetime of this object.
public final class StateHold: Sendable {
  private let directory: StateDirectory

  /// Locks the directory.
  ///
  /// - Throws: `stateInUse`, or the reason why the directory can't be used at all.
  public init(directory: String) throws(StoreOpenError) { self.directory = try StateDirectory(directory) }
}
