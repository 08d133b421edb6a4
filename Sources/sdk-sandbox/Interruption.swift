import Dispatch
import Foundation

/// An interruption by SIGTERM or SIGINT that a task can wait for.
final class Interruption {
  private let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// Starts to intercept both signals, which no longer end the process by themselves.
  init() {
    let (signals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { arrival.yield() }
      source.resume()
      return source
    }
  }

  /// Returns once one of the signals has arrived, before or after the call.
  func wait() async {
    for await _ in signals { return }
  }
}
