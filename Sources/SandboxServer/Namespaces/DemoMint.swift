/// The JWTs that the sandbox accepts, by SDK.
public enum DemoMint {
  /// The short names of the SDKs with JWTs.
  public static let names = BackendList.named.filter { $0.backend.mintsTokens }.map(\.word)

  /// Returns a JWT for an SDK, which is given by its short name or the name of its kind.
  ///
  /// - Throws: `MintMistake` for an SDK without JWTs and for options that it does not have.
  public static func token(for sdk: String, _ request: MintRequest) throws(MintMistake) -> String {
    let found = BackendList.named.first { $0.word == sdk || $0.kind == sdk }?.backend
    guard let found, found.mintsTokens else {
      throw MintMistake(message: "--sdk must be one of \(names.joined(separator: ", ")).")
    }
    return try found.mint(request)
  }
}
