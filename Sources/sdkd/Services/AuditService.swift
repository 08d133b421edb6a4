import SDKInstances
import ServiceLifecycle

/// Has the audit's counts written once a minute.
struct AuditService: Service {
  let trail: AuditTrail
  let interval: Duration

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do { try await Task.sleep(for: interval) } catch { return }
        trail.flush()
      }
    }
  }
}
