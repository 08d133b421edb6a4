import Foundation
import Randomness
import SDKProtocol
import Testing

@testable import SDKInstances

/// Serialized, because these tests only compute, and other tests need the same threads.
@Suite(.serialized) struct CoreWalkTests {
  /// The steps of one walk: `SDKD_WALK_STEPS` for a longer look by hand.
  private static let steps = ProcessInfo.processInfo.environment["SDKD_WALK_STEPS"].flatMap { Int($0) } ?? 1_000

  @Test(
    "Every rule holds after each step of a random walk", arguments: AuthenticationPolicy.samples.indices,
    [[], ["a", "b", "c"]])
  func everyRuleHolds(policy: Int, services: [String]) async throws {
    for seed: UInt64 in 1...2 {
      let walk = try await Self.walk(AuthenticationPolicy.samples[policy], services: services, seed: seed)
      #expect(walk.rules.broken == [], "seed \(seed): \(walk.trace.joined(separator: "; "))")
    }
  }

  /// The states of one search at most: `SDKD_SEARCH_STATES` for all of them by hand.
  private static let states = ProcessInfo.processInfo.environment["SDKD_SEARCH_STATES"].flatMap { Int($0) } ?? 500

  @Test(
    "Every rule holds in each state that a small world can reach", arguments: AuthenticationPolicy.samples.indices)
  func everyStateKeepsTheRules(policy: Int) async throws {
    var search = CoreSearch()
    await search.run(try CoreWalk(AuthenticationPolicy.samples[policy]), limit: Self.states)
    print("Policy \(policy): \(search.states) states, \(search.moves) moves, \(search.left) moves led too far.")
    #expect(search.finding?.broken ?? [] == [], "\(search.finding?.path.joined(separator: "\n") ?? "")")
  }

  /// The shortest way to the fault, as `CoreSearch` found it: a report that comes during a logout refuses the
  /// credential, the connection that is opening then opens, and the failure of the logout can't be stored.
  @Test("A logout whose failure can't be stored closes the connection of a refused credential")
  func noConnectionOutlivesItsCredential() throws {
    var walk = try CoreWalk(AuthenticationPolicy.samples[0])
    walk.make(.init(kind: .signIn(user: "alice", lifetime: nil, isAwaited: true)))
    walk.make(.init(kind: .result(of: 0, failure: nil, lifetime: nil)))
    walk.make(.init(kind: .signOut(isLocal: false)))
    walk.make(.init(kind: .report))
    walk.make(.init(kind: .result(of: 0, failure: nil, lifetime: nil)))
    #expect(walk.core.services.map(\.connection.isOpen) == [true])
    walk.make(.init(kind: .result(of: 0, failure: SampleErrors.network, lifetime: nil), fails: true))
    #expect(walk.core.services.map(\.connection.isOpen) == [false])
    #expect(walk.rules.broken == [])
  }

  @Test("The rules find a planted fault", arguments: CoreFault.allCases)
  func plantedFaultsAreFound(fault: CoreFault) async throws {
    var broken: Set<String> = []
    for policy in AuthenticationPolicy.samples where broken.isEmpty {
      broken = try await Self.walk(policy, services: [], seed: 1, fault: fault).rules.broken
    }
    #expect(!broken.isEmpty)
  }

  /// Walks until a rule is broken.
  private static func walk(
    _ policy: AuthenticationPolicy, services: [String], seed: UInt64, fault: CoreFault? = nil
  ) async throws -> CoreWalk {
    var random = SeededGenerator(seed: seed)
    var walk = try CoreWalk(policy, services: services, fault: fault)
    for number in 0..<steps where walk.rules.broken.isEmpty {
      if number.isMultiple(of: 10) { await Task.yield() }
      walk.step(&random)
    }
    if walk.rules.broken.isEmpty { walk.drain(&random) }
    return walk
  }
}
