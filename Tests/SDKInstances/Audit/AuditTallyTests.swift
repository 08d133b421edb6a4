import SDKProtocol
import Testing

@testable import SDKInstances

struct AuditTallyTests {
  private func key(_ what: String, uid: UInt32 = 7, kind: AuditRecord.Kind = .credential) -> AuditTally.Key {
    AuditTally.Key(kind: kind, uid: uid, user: uid, program: PeerProcess(), method: "m", instance: "desk", what: what)
  }

  private func record(_ what: String, kind: AuditRecord.Kind = .credential) -> AuditRecord {
    AuditRecord(kind, "It was \(what).", [.peerUID: "7", .outcome: what])
  }

  private func add(_ what: String, to tally: inout AuditTally, at second: Double = 0) -> [String] {
    tally.add(key(what), at: .seconds(second), record(what)).map(\.message)
  }

  @Test func `The first time is written, the rest counted exactly`() {
    var tally = AuditTally()
    #expect(add("a", to: &tally) == ["It was a."])
    for _ in 0..<9 { #expect(add("a", to: &tally).isEmpty) }
    #expect(add("b", to: &tally) == ["It was b."])
    let counted = tally.flush(at: .seconds(60))
    #expect(counted.map(\.message) == ["It was a, 9 times more."])
    #expect(counted.first?.fields[.count] == "9")
    #expect(tally.flush(at: .seconds(120)).isEmpty)
    #expect(add("a", to: &tally, at: 121).isEmpty)
    #expect(tally.flush(at: .seconds(180)).map(\.message) == ["It was a, 1 times more."])
  }

  @Test func `What is not used for long is written again`() {
    var tally = AuditTally()
    _ = add("a", to: &tally)
    #expect(tally.flush(at: AuditTally.lifetime).isEmpty)
    #expect(tally.count == 0)
    #expect(add("a", to: &tally, at: 601) == ["It was a."])
  }

  @Test func `A full table makes room without losing a count`() {
    var tally = AuditTally(capacity: 8)
    var written = 0
    for number in 0..<100 {
      for _ in 0..<3 { written += add("k\(number)", to: &tally, at: Double(number)).count }
      #expect(tally.count <= 8)
    }
    written += tally.flush(at: .seconds(100)).count
    // Each key yields a first record and a count, emitted at its eviction or at the flush.
    #expect(written == 200)
  }

  @Test func `Names that a caller makes up for refusals fill nothing`() {
    var tally = AuditTally(capacity: 100, refusalsPerUser: 3)
    var written: [AuditRecord] = []
    for number in 0..<1000 {
      var key = key("instanceNotFound", kind: .refusal)
      key.instance = "i\(number)"
      written += tally.add(key, at: .zero, record("instanceNotFound", kind: .refusal))
    }
    #expect(written.map(\.message).suffix(1) == ["uid 7 was refused many different calls: instanceNotFound."])
    #expect(written.count == 4)
    #expect(tally.flush(at: .seconds(60)).map { $0.fields[.count] } == ["996"])
    var other = key("instanceNotFound", uid: 8, kind: .refusal)
    other.instance = "i1"
    #expect(tally.add(other, at: .zero, record("x", kind: .refusal)).count == 1)
  }
}
