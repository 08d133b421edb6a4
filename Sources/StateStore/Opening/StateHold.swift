/// Holds the directory of a state that can't be opened: nobody else takes it as long as this lives.
public final class StateHold: Sendable {
  private let directory: StateDirectory

  /// Takes the directory.
  ///
  /// - Throws: `stateInUse`, and why it can't be used at all.
  public init(directory: String) throws(StoreOpenError) { self.directory = try StateDirectory(directory) }
}
