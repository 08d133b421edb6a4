import JSONRPC
import JSONRPCTransport
import Testing

@testable import sdkd

struct UserAllowancesTests {
  private let second: UInt64 = 1_000_000_000

  private func reason(_ admission: ConnectionAdmission) -> String? {
    guard case .refused(let error) = admission else { return nil }
    #expect(error.reason == "rateLimit" && error.isRetryable)
    #expect((error.data["retryAfter"]?.doubleValue ?? 0) > 0)
    return error.message
  }

  @Test func `A uid has so many connections, and all together so many`() {
    let table = UserAllowances(ConnectionLimits(perUser: 2, total: 3))
    #expect(reason(table.admit(1, at: 0)) == nil)
    #expect(reason(table.admit(1, at: 0)) == nil)
    #expect(reason(table.admit(1, at: 0))?.hasPrefix("This user has 2 connections already") == true)
    #expect(reason(table.admit(2, at: 0)) == nil)
    #expect(reason(table.admit(3, at: 0))?.hasPrefix("All users together have 3") == true)
    table.end(1)
    #expect(reason(table.admit(3, at: 0)) == nil)
    #expect(table.counts.connections == 3)
  }

  @Test func `Connections of a uid share one allowance, also when they come one after the other`() throws {
    let table = UserAllowances(ConnectionLimits(user: AllowanceLimits(callsPerSecond: 1)))
    func admit(_ uid: UInt32, at now: UInt64) -> Allowance? {
      guard case .admitted(let allowance) = table.admit(uid, at: now) else { return nil }
      return allowance
    }
    let first = try #require(admit(1, at: 0))
    let second = try #require(admit(1, at: 0))
    #expect(first === second)
    #expect(admit(2, at: 0) !== first)
    #expect(reason(table.admit(1, at: 0))?.contains("more than 1 connections a second") == true)
    table.end(1)
    table.end(1)
    #expect(reason(table.admit(1, at: 0)) != nil)
    #expect(admit(1, at: self.second) === first)
  }

  @Test func `Who has gone is forgotten, once that makes no difference`() {
    let table = UserAllowances(ConnectionLimits())
    for uid in 0..<5000 as Range<UInt32> {
      _ = table.admit(uid, at: UInt64(uid) * second)
      table.end(uid)
    }
    #expect(table.counts.users < 100)
    #expect(table.counts.connections == 0)
  }

  @Test func `Half of the descriptors stay for admins and the daemon itself`() {
    #expect(ConnectionLimits().fitting(descriptors: 65_536).total == 2048)
    #expect(ConnectionLimits().fitting(descriptors: 256).total == 64)
    #expect(ConnectionLimits().fitting(descriptors: 0).total == 1)
    #expect(ConnectionLimits.descriptors > 0)
  }
}
