public import SDKProtocol
import Synchronization

/// The secrets that an instance has sent to its vendor lately. A vendor may still repeat a former one, after a renewal
/// for instance, so its texts are read without all of them.
public final class SentHistory: Sendable {
  /// The maximum number and the maximum bytes of secrets that are kept. The oldest make room.
  static let limits = (count: 16, bytes: 4096)

  private let secrets = Mutex<[Secret]>([])

  /// Creates an empty history.
  public init() {}

  /// Notes the secrets of a request or of a connection.
  ///
  /// - Returns: these and the earlier ones.
  public func sent(_ new: [Secret]) -> SentSecrets {
    secrets.withLock { secrets in
      let all = secrets.filter { !new.contains($0) } + new.filter { !$0.isEmpty }
      var left = Self.limits.bytes
      let kept = all.suffix(Self.limits.count).reversed().prefix { secret in
        left -= secret.reveal().utf8.count
        return left >= 0
      }
      secrets = kept.reversed()
      return SentSecrets(all)
    }
  }
}
