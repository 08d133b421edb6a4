/// How a client bears itself. Bytes are bytes on the wire.
public struct ClientSettings: Sendable {
  /// How long to try to connect while the daemon's queue of connections is full.
  public var connectTimeout: Duration
  /// The longest line that is taken from the daemon.
  public var maxLineBytes: Int
  /// How many notifications may wait to be taken.
  public var maxNotifications: Int

  /// Settings that suit a client on the same machine.
  public init(
    connectTimeout: Duration = .seconds(5), maxLineBytes: Int = 64 << 20, maxNotifications: Int = 4096
  ) {
    self.connectTimeout = connectTimeout
    self.maxLineBytes = maxLineBytes
    self.maxNotifications = maxNotifications
  }
}
