import CoreMetrics
import OpenMetrics
import SDKInstances

/// An HTTP client that counts the requests of another.
struct MeasuredHTTP: HTTPSending {
  private let base: any HTTPSending
  private let requests: LazyCounters
  private let timer: Timer

  init(_ base: any HTTPSending, registry: MetricsRegistry) {
    self.base = base
    requests = LazyCounters(.vendorRequests, in: registry) { [("status", $0)] }
    timer = Timer(label: MetricFamily.vendorDuration.name, factory: registry)
  }

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    let start = ContinuousClock.now
    do throws(HTTPFailure) {
      let response = try await base.send(request)
      count(Self.statusClass(response.status), since: start)
      return response
    } catch {
      count(Self.word(for: error), since: start)
      throw error
    }
  }

  private func count(_ status: String, since start: ContinuousClock.Instant) {
    requests.increment(status)
    timer.recordNanoseconds(start.duration(to: .now).nanoseconds)
  }

  private static func statusClass(_ status: Int) -> String {
    (100..<600).contains(status) ? "\(status / 100)xx" : "other"
  }

  private static func word(for failure: HTTPFailure) -> String {
    switch failure {
    case .network, .insecure, .proxy: "network"
    case .timeout: "timeout"
    case .tooLarge: "tooLarge"
    case .refused(let status, _): statusClass(status)
    }
  }
}
