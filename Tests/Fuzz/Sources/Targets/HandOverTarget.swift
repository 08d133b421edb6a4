import JSONRPC
import JSONRPCTransport
import SDKProtocol

@testable import SDKInstances

extension FuzzTarget {
  /// The opened state of a bag: the connections that the former daemon has left.
  static let handOver = FuzzTarget("handover") { input in
    let states = ConnectionHandOver.decode(input.bytes)
    require(states.count < input.lines.count, "There are more connections than lines.")
    let rates = HandedRates.decode(input.bytes)
    let readAgain = HandedRates.decode(HandedRates.encode(rates))
    require(Set(readAgain) == Set(rates), "Rates are not read as they were written.")
    let encoded = states.flatMap(\.encoded)
    require(ConnectionHandOver.decode(encoded) == states, "States are not read as they were written.")
    for state in states {
      require(state.inode > 0, "A connection has no socket.")
      let batches = state.requests.compactMap(\.batch)
      require(Set(batches) == Set(state.batches.indices), "A batch has no members, or a member has no batch.")
      let size = state.input.count + state.output.count
      require(size <= input.bytes.count, "A connection has more bytes than the bag.")
      guard let session = HandedSession(state.program) else { continue }
      for item in session.subscriptions.items { _ = item.instances?.compactMap { InstanceID($0) } }
    }
  }
}
