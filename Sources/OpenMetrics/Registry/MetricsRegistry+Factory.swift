public import CoreMetrics

extension MetricsRegistry {
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let cell = cell(label, dimensions) { $0.kind == .counter ? .counter(CounterCell()) : nil }
    if case .counter(let counter)? = cell { return counter }
    return NOOPMetricsHandler.instance
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    let cell = cell(label, dimensions) { $0.kind == .gauge ? .gauge(GaugeCell()) : nil }
    if case .gauge(let gauge)? = cell { return gauge }
    return NOOPMetricsHandler.instance
  }

  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    let cell = cell(label, dimensions) { family in
      switch family.kind {
      case .histogram where aggregate: .histogram(HistogramCell(bounds: family.bounds, scale: 1))
      case .gauge where !aggregate: .gauge(GaugeCell())
      default: nil
      }
    }
    switch cell {
    case .histogram(let histogram)? where aggregate: return histogram
    case .gauge(let gauge)? where !aggregate: return gauge
    default: return NOOPMetricsHandler.instance
    }
  }

  /// Returns a timer that records nanoseconds. Its family is in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let cell = cell(label, dimensions) { family in
      family.kind == .histogram ? .histogram(HistogramCell(bounds: family.bounds, scale: 1e9)) : nil
    }
    if case .histogram(let histogram)? = cell { return histogram }
    return NOOPMetricsHandler.instance
  }

  // Metrics are kept: a counter that disappears and returns would look like a restart of the process.
  public func destroyCounter(_ handler: any CounterHandler) {}
  public func destroyMeter(_ handler: any MeterHandler) {}
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  public func destroyTimer(_ handler: any TimerHandler) {}
}
