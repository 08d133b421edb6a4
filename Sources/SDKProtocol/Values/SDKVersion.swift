/// The versions of the program and of the contract.
public enum SDKVersion {
  /// The program's version.
  public static let program = "0.1.0"
  /// The contract's version. A new member or method raises the second number; any other change raises the first.
  public static let api = "1.0"
}
