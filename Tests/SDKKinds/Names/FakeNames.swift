import NIOCore
import SDKInstances
import Synchronization

@testable import SDKKinds

/// A resolver with scripted results. Each look-up takes the next list of addresses; the last list is repeated.
final class FakeNames: NameResolving {
  private let answers: Mutex<[[String]]>
  private let asked = Mutex<[String]>([])

  init(_ answers: [String]...) { self.answers = Mutex(answers) }

  var hosts: [String] { asked.withLock { $0 } }

  func addresses(
    of host: String, timeout: TimeAmount, on loop: any EventLoop
  ) async throws(HTTPFailure) -> [NetworkAddress] {
    asked.withLock { $0.append(host) }
    let next = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
    return next.compactMap { NetworkAddress(literal: $0) }
  }
}
