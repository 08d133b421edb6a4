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

  private func allowance(_ admission: ConnectionAdmission) throws -> Allowance {
    guard case .admitted(let allowance?) = admission else { throw CancellationError() }
    return allowance
  }

  @Test func `A user has so many connections, and all together so many`() throws {
    let table = UserAllowances(ConnectionLimits(perUser: 2, total: 3))
    func admit(_ uid: UInt32) -> ConnectionAdmission { table.admit(uid, isStranger: false, at: 0) }
    let first = try allowance(admit(1))
    #expect(reason(admit(1)) == nil)
    #expect(reason(admit(1))?.hasPrefix("This user has 2 connections already") == true)
    #expect(reason(admit(2)) == nil)
    #expect(reason(admit(3))?.hasPrefix("All users together have 3") == true)
    table.end(first)
    #expect(reason(admit(3)) == nil)
    #expect(table.counts.connections == 3)
  }

  @Test func `Connections of a user share one allowance, also when they come one after the other`() throws {
    let table = UserAllowances(ConnectionLimits(user: AllowanceLimits(callsPerSecond: 1)))
    func admit(_ uid: UInt32, at now: UInt64) -> ConnectionAdmission { table.admit(uid, isStranger: false, at: now) }
    let first = try allowance(admit(1, at: 0))
    let second = try allowance(admit(1, at: 0))
    #expect(first.user === second.user)
    #expect(try allowance(admit(2, at: 0)).user !== first.user)
    #expect(reason(admit(1, at: 0))?.contains("more than 1 connections a second") == true)
    table.end(first)
    table.end(second)
    #expect(reason(admit(1, at: 0)) != nil)
    #expect(try allowance(admit(1, at: self.second)).user === first.user)
  }

  @Test func `Strangers have a quarter of the connections, and those who get a role leave it`() throws {
    let table = UserAllowances(ConnectionLimits(perUser: 3, total: 16))
    func admit(_ uid: UInt32, _ isStranger: Bool) -> ConnectionAdmission {
      table.admit(uid, isStranger: isStranger, at: 0)
    }
    var open = try (0..<4).map { try allowance(admit(1000 + $0, true)) }
    #expect(open.count { $0.isPooled } == 4)
    #expect(reason(admit(1004, true))?.hasPrefix("Callers without a role") == true)
    #expect(reason(admit(7, false)) == nil)
    table.set(isStranger: false, of: open[0])
    table.set(isStranger: false, of: open[0])
    #expect(table.counts.strangers == 3)
    open.append(try allowance(admit(1004, true)))
    #expect(reason(admit(1005, true)) != nil)
    // A user without any role left counts as a stranger, even if the strangers' quarter is full.
    table.set(isStranger: true, of: open[0])
    #expect(table.counts.strangers == 5)
    for allowance in open { table.end(allowance) }
    #expect(table.counts == (7, 1, 0))
    // A connection that has ended is not counted.
    table.set(isStranger: true, of: open[0])
    #expect(table.counts.strangers == 0)
  }

  @Test func `A user without a role has no more connections than one with a role`() throws {
    let table = UserAllowances(ConnectionLimits(perUser: 2, total: 1000))
    for _ in 0..<2 { #expect(reason(table.admit(7, isStranger: true, at: 0)) == nil) }
    #expect(reason(table.admit(7, isStranger: true, at: 0))?.hasPrefix("This user has 2") == true)
    #expect(reason(table.admit(7, isStranger: false, at: 0))?.hasPrefix("This user has 2") == true)
  }

  @Test func `Who has gone is forgotten, once that makes no difference`() throws {
    let table = UserAllowances(ConnectionLimits())
    for uid in 0..<5000 as Range<UInt32> {
      table.end(try allowance(table.admit(uid, isStranger: uid.isMultiple(of: 2), at: UInt64(uid) * second)))
    }
    #expect(table.counts.users < 100)
    #expect(table.counts.connections == 0 && table.counts.strangers == 0)
  }

  @Test func `Rates that are used up stay so in the next process, with its limits`() throws {
    func table(_ calls: Int) -> UserAllowances {
      UserAllowances(ConnectionLimits(user: AllowanceLimits(callsPerSecond: calls)))
    }
    func admit(_ uid: UInt32, _ table: UserAllowances, at now: UInt64) -> ConnectionAdmission {
      table.admit(uid, isStranger: false, at: now)
    }
    let former = table(2)
    let now = 100 * second
    for _ in 0..<4 { former.end(try allowance(admit(1, former, at: now))) }
    _ = try allowance(former.admit(2, isStranger: true, at: now))
    #expect(Set(former.usedRates(at: now).map(\.user)) == [1, 2, nil])
    #expect(former.usedRates(at: now + 60 * second).isEmpty)
    // With every limit, a connection is refused now, and admitted after a second.
    for calls in [1, 2, 1000] {
      let next = table(calls)
      next.adopt(former.usedRates(at: now), at: now)
      #expect(reason(admit(1, next, at: now)) != nil)
      #expect(reason(admit(2, next, at: now)) == nil)
      #expect(reason(admit(1, next, at: now + second)) == nil)
    }
    // A minute later all buckets would be full again, and no user is kept.
    let later = table(2)
    later.adopt(former.usedRates(at: now), at: now + 60 * second)
    #expect(later.counts.users == 0)
  }

  @Test func `Half of the descriptors stay for admins and the daemon itself`() {
    #expect(ConnectionLimits().fitting(descriptors: 65_536).total == 2048)
    #expect(ConnectionLimits().fitting(descriptors: 256).total == 64)
    #expect(ConnectionLimits().fitting(descriptors: 0).total == 1)
    #expect(ConnectionLimits().fitting(descriptors: 0).strangers == 1)
    #expect(ConnectionLimits.descriptors > 0)
  }
}
