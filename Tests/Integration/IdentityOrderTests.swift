import JSONRPC
import Testing

/// The order of `protocol.md`: calls right behind a change of the identity, on one connection that does not wait for the
/// change's answer.
///
/// The calls come from the contract and the kinds from `KindSample`, so a new method or kind joins by itself.
@Suite struct IdentityOrderTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let sample: KindSample
    let change: IdentityChange

    var testDescription: String { "\(sample.kind) \(change)" }
  }

  static let rows = KindSample.all.flatMap { sample in
    IdentityChange.allCases.filter { $0.isKnown(to: sample) }.map { Row(sample: sample, change: $0) }
  }

  /// Returns the probes, and for each the answer to the call right behind the change.
  private func play(_ desk: IdentityChangeDesk, _ probes: [IdentityChangeDesk.Probe]) throws -> [JSON] {
    let line = desk.line
    try desk.slowDown(probes)
    let calls = try probes.map { ($0, try desk.beginChange($0.instance), desk.begin($0)) }
    return try calls.map { probe, change, call in
      let changed = try line.answer(change)
      #expect(changed["error"] == nil, "\(probe.method): \(changed)")
      let answer = try line.answer(call)
      try desk.waitForTheChange(probe.instance)
      return answer
    }
  }

  @Test("A read right behind a change of the identity gives what the same read gives later", arguments: rows)
  func X9_aReadBehindAChangeSeesIt(row: Row) throws {
    let desk = try IdentityChangeDesk(row.sample, row.change)
    let probes = try desk.probes(writes: false)
    #expect(probes.count >= 8)
    let former = row.change == .first ? [] : try probes.map { try desk.again($0) }
    if row.change == .unlock { try desk.lock(probes) }
    for (index, (probe, answer)) in zip(probes, try play(desk, probes)).enumerated() {
      let essence = IdentityChangeDesk.essence(answer)
      #expect(essence == IdentityChangeDesk.essence(try desk.again(probe)), "\(probe.method)")
      guard [.other, .signOut, .lock].contains(row.change) else { continue }
      for text in probe.former {
        #expect(!JSONWriter.text(of: answer).contains(text), "\(probe.method) has \(text)")
      }
      if !Self.namesNobody(probe.method, row.sample) {
        #expect(essence != IdentityChangeDesk.essence(former[index]), "\(probe.method) can't tell the users apart")
      }
    }
  }

  /// Whether the answers to a method are the same for all users.
  private static func namesNobody(_ method: String, _ sample: KindSample) -> Bool {
    ["token.reject", "support.getIdentity", "serviceChat.getAuthenticationSettings"].contains(method)
      || method == "push.list" && sample.unansweredPush == nil
  }

  @Test("A write right behind a change of the identity survives, or fails as it does later", arguments: rows)
  func X9_aWriteBehindAChangeSurvives(row: Row) throws {
    let desk = try IdentityChangeDesk(row.sample, row.change)
    let probes = try desk.probes(writes: true)
    #expect(probes.count >= 5)
    if row.change == .unlock { try desk.lock(probes) }
    var acknowledged: [(probe: IdentityChangeDesk.Probe, mark: String)] = []
    for (probe, answer) in zip(probes, try play(desk, probes)) {
      if answer["result"] != nil {
        acknowledged.append((probe, answer["result"]?["id"]?.stringValue ?? probe.mark))
      } else {
        let later = IdentityChangeDesk.essence(try desk.again(probe))
        #expect(IdentityChangeDesk.essence(answer) == later, "\(probe.method)")
      }
    }
    let hasUser = row.change.user(of: "") != nil
    if hasUser { #expect(acknowledged.contains { $0.probe.method == "storage.put" }) }
    try desk.crash()
    for (probe, mark) in acknowledged {
      let shown = try desk.shown(probe)
      if let removed = probe.removed {
        #expect(!shown.contains(removed), "\(probe.method)")
      } else if hasUser || !probe.isOfOneKind {
        // The methods of a kind show stored values only while their user is signed in.
        #expect(shown.contains(mark), "\(probe.method): \(shown)")
      }
    }
  }
}
