import Dispatch
import Foundation

/// SIGTERM and SIGINT as something to wait for.
final class Interruption {
  private let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// From here on the signals no longer end the process by themselves.
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

  /// Returns once one has arrived, be it before or after the call.
  func wait() async {
    for await _ in signals { return }
  }
}
