import SDKProtocol

/// A bound on the logins that are in progress at the vendor.
///
/// A newer login supersedes an earlier one, but the earlier one's request goes on, and is undone afterwards.
extension InstanceActor {
  /// The maximum number of logins of a service that have not ended at the vendor, with those being undone.
  static let maximumLogins = 16

  /// Throws `rateLimit` if no further login of a service may begin now.
  func checkLogins(on service: String?) throws(SDKError) {
    guard logins[service, default: 0] >= Self.maximumLogins else { return }
    throw SDKError(
      .limit, .rateLimit, "\(Self.maximumLogins) logins on \(id) have not ended at the vendor yet; try again later.",
      instance: id, retryAfter: 1)
  }

  /// Starts the work of a login, or of its undoing, which counts until its end.
  func startLogin(on service: String?, _ work: @escaping Operations.Work) {
    logins[service, default: 0] += 1
    environment.operations.start {
      await work()
      await self.loginEnded(on: service)
    }
  }

  private func loginEnded(on service: String?) { logins[service, default: 1] -= 1 }
}
