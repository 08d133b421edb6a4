import Glibc
import NIOCore
import NIOPosix
import SDKInstances
import Synchronization

/// The system's names, by `getaddrinfo`, away from the event loops. A name is looked up by one thread at a time, and
/// what was found is remembered for a short time, so that a resolver that hangs for one host holds no other up for long.
final class SystemNames: NameResolving {
  private enum Entry {
    case known([NetworkAddress], until: NIODeadline)
    case looking([Turn<[NetworkAddress]>])
  }

  static let shared = SystemNames()

  private let entries = Mutex<[String: Entry]>([:])
  private let pool = NIOThreadPool(numberOfThreads: 8)
  private static let lifetime = TimeAmount.seconds(30)
  private static let capacity = 4096

  private init() { pool.start() }

  func addresses(
    of host: String, timeout: TimeAmount, on loop: any EventLoop
  ) async throws(HTTPFailure) -> [NetworkAddress] {
    if let literal = NetworkAddress(literal: host) { return [literal] }
    let turn = Turn<[NetworkAddress]>()
    join(host, turn)
    let timer = loop.scheduleTask(in: timeout) { _ = turn.resolve(.failure(.timeout)) }
    defer { timer.cancel() }
    return try await turn.outcome().get()
  }

  private func join(_ host: String, _ turn: Turn<[NetworkAddress]>) {
    let (known, isFirst) = entries.withLock { entries -> ([NetworkAddress]?, Bool) in
      switch entries[host] {
      case .known(let addresses, let until) where until > .now(): return (addresses, false)
      case .looking(let turns):
        entries[host] = .looking(turns.filter { !$0.isOver } + [turn])
        return (nil, false)
      case .known, nil:
        if entries.count >= Self.capacity {
          entries = entries.filter { if case .looking = $0.value { true } else { false } }
        }
        entries[host] = .looking([turn])
        return (nil, true)
      }
    }
    if let known { turn.resolve(.success(known)) }
    guard isFirst else { return }
    pool.submit { _ in self.finish(host, NetworkAddress.resolve(host)) }
  }

  private func finish(_ host: String, _ found: [NetworkAddress]) {
    let waiting = entries.withLock { entries -> [Turn<[NetworkAddress]>] in
      guard case .looking(let turns)? = entries[host] else { return [] }
      entries[host] = found.isEmpty ? nil : .known(found, until: .now() + Self.lifetime)
      return turns
    }
    for turn in waiting { turn.resolve(.success(found)) }
  }
}
