public import SDKProtocol
import Synchronization

/// The secrets that an instance has sent to its vendor last. A vendor may repeat a former one, after a renewal for
/// instance, so all of them are masked in its texts.
public final class SentHistory: Sendable {
  /// The maximum number and the maximum bytes of secrets that are kept: four of the longest tokens. The oldest make room.
  static let limits = (count: 16, bytes: 64 << 10)

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
