/// What a provider that is a systemd unit sends: its output, and behind it how it ended.
public struct ProviderReply: Sendable, Hashable {
  /// What the program wrote to standard output.
  public let output: [UInt8]
  /// How it ended.
  public let status: ProviderStatus

  /// The reply that the bytes are; `nil` while its end is missing.
  ///
  /// The wrapper's trailer is the last that is written, so it begins with the last NUL. A program that writes one of
  /// its own has a NUL in its output, which is then no answer.
  public init?(_ bytes: [UInt8]) {
    let tail = bytes.suffix(ProviderStatus.longestTrailer)
    guard let start = tail.lastIndex(of: 0), let status = ProviderStatus(trailer: tail[start...]) else { return nil }
    output = Array(bytes[..<start])
    self.status = status
  }
}
