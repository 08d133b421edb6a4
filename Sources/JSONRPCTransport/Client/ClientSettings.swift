/// The settings of a client connection.
public struct ClientSettings: Sendable {
  /// The time after which connecting fails while the daemon's backlog is full.
  public var connectTimeout: Duration
  /// The longest line that is accepted from the daemon, in bytes.
  public var maxLineBytes: Int
  /// The largest number of unread notifications; one more ends the connection.
  public var maxNotifications: Int

  /// Makes settings; the defaults suit a client on the same machine.
  public init(
    connectTimeout: Duration = .seconds(5), maxLineBytes: Int = 64 << 20, maxNotifications: Int = 4096
  ) {
    self.connectTimeout = connectTimeout
    self.maxLineBytes = maxLineBytes
    self.maxNotifications = maxNotifications
  }
}
