/// The reply of a provider that is a systemd unit: the program's output, then its exit status.
public struct ProviderReply: Sendable, Hashable {
  /// The program's standard output.
  public let output: [UInt8]
  /// The program's exit status.
  public let status: ProviderStatus

  /// The reply in these bytes; `nil` while its end is missing.
  ///
  /// The wrapper writes its trailer last, so the trailer begins with the last NUL. A program that writes a trailer
  /// itself has a NUL in its output, which makes the answer invalid.
  public init?(_ bytes: [UInt8]) {
    let tail = bytes.suffix(ProviderStatus.longestTrailer)
    guard let start = tail.lastIndex(of: 0), let status = ProviderStatus(trailer: tail[start...]) else { return nil }
    output = Array(bytes[..<start])
    self.status = status
  }
}
