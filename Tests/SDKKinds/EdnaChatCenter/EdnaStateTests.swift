import JSONRPC
import SDKProtocol
import Testing

@testable import SDKKinds

/// The changes that wait for the next chat that opens (`rows.md`, E4 and E9).
@Suite struct EdnaStateTests {
  @Test func `New attributes wait, and what the vendor has does not`() {
    var state = EdnaState()
    state.data = ["plan": "gold"]
    state.update(["plan": "gold"])
    #expect(state.pending == nil)
    state.update(["plan": "silver"])
    #expect(state.pending == .init(data: ["plan": "silver"]))
    #expect(state.latestData == ["plan": "silver"])
    #expect(state.data == ["plan": "gold"])
    // The silver plan may already be on its way to the vendor, so the former plan must be sent after it.
    state.update(["plan": "gold"])
    #expect(state.pending == .init(data: ["plan": "gold"]))
  }

  @Test func `Attributes that differ only in their bytes are new`() {
    var state = EdnaState()
    state.data = ["city": "Saint-Andr\u{E9}"]
    state.update(["city": "Saint-Andre\u{301}"])
    #expect(state.pending != nil)
  }

  @Test func `The empty set is one, and none before any is no news`() {
    var state = EdnaState()
    state.update([:])
    #expect(state.pending == nil)
    state.data = ["plan": "gold"]
    state.update([:])
    #expect(state.pending == .init(data: [:]))
    #expect(state.latestData == [:])
  }

  @Test func `A changed name waits and displaces no attributes`() {
    var state = EdnaState()
    state.data = ["plan": "gold"]
    state.noteName()
    #expect(state.pending == .init(data: nil))
    #expect(state.latestData == ["plan": "gold"])
    state.update(["plan": "silver"])
    state.noteName()
    #expect(state.pending == .init(data: ["plan": "silver"]))
    #expect(EdnaState(state.values) == state)
  }

  @Test func `What ends the session at the vendor has nothing of the chat`() {
    var state = EdnaState()
    state.clientId = "u-1"
    state.deviceAddress = "d-1"
    state.prefill = "Hello"
    state.data = ["plan": "gold"]
    #expect(state.farewell.keys.sorted() == ["client_id", "device_address"])
  }
}
