import SDKClient
import SDKProtocol
import Testing

@testable import sdkctl

/// What happens to a token file after each event, answer and alarm.
struct TokenFileRulesTests {
  private static let alice = Array("alice\n".utf8)
  private static let bob = Array("bob\n".utf8)

  private static func failure(_ status: Int32) -> CommandFailure {
    CommandFailure(message: "No.", reason: "test", status: status)
  }

  private static let network = failure(75)
  private static let signedOut = failure(6)

  private func rules(minTTL: Double = 0, isStrict: Bool = false) -> TokenFileRules {
    TokenFileRules(minTTL: minTTL, isStrict: isStrict)
  }

  /// Returns rules whose file holds a token of Alice since time 0.
  private func filled(ttl: Double? = 100, minTTL: Double = 0, isStrict: Bool = false) -> TokenFileRules {
    var rules = rules(minTTL: minTTL, isStrict: isStrict)
    #expect(rules.take(.begun) == [.ask])
    #expect(
      rules.take(.token(Self.alice, ttl: ttl), of: rules.generation, at: .zero, random: 1) == [.write(Self.alice)])
    return rules
  }

  private func seconds(_ value: Double) -> Duration { .seconds(value) }

  @Test("What an earlier process has left stays only if there is a token at once")
  func leftovers() {
    for failure in [Self.network, Self.signedOut, Self.failure(3), Self.failure(1)] {
      var rules = rules()
      #expect(rules.take(.begun) == [.ask])
      #expect(rules.take(.failure(failure), of: 0, at: .zero, random: 1) == [.remove])
      #expect(rules.take(.failure(failure), of: 0, at: .zero, random: 1) == [])
    }
    var rules = rules()
    #expect(rules.take(.lost(Self.failure(3))) == [.remove])
    #expect(rules.take(.lost(Self.failure(3))) == [])
    #expect(filled().nextAlarm == seconds(90))
  }

  @Test("A possible change of the user removes the file first, and discards answers to earlier requests")
  func anotherUser() {
    var rules = filled()
    let before = rules.generation
    #expect(rules.take(.other) == [.ask])
    #expect(rules.take(.user) == [.remove])
    // The answer to the request before the change may be the former user's token.
    #expect(rules.take(.token(Self.alice, ttl: 100), of: before, at: seconds(1), random: 1) == [.ask])
    #expect(
      rules.take(.token(Self.bob, ttl: 100), of: rules.generation, at: seconds(2), random: 1) == [.write(Self.bob)])
    #expect(rules.take(.user) == [.remove, .ask])
    #expect(rules.take(.failure(Self.signedOut), of: rules.generation, at: seconds(3), random: 1) == [])
  }

  @Test("The same token is not written again, a new one is")
  func renewal() {
    var rules = filled()
    #expect(rules.take(.other) == [.ask])
    #expect(rules.take(.other) == [])
    // An event during a request leads to another request.
    #expect(rules.take(.token(Self.alice, ttl: 99), of: rules.generation, at: seconds(1), random: 1) == [.ask])
    #expect(
      rules.take(.token(Self.bob, ttl: 200), of: rules.generation, at: seconds(1), random: 1) == [.write(Self.bob)])
    #expect(rules.nextAlarm == seconds(181))
  }

  @Test(
    "A failure that can pass leaves the token until its end, any other one does not",
    arguments: [(75, false), (3, false), (6, true), (1, true)] as [(Int32, Bool)])
  func failures(_ status: Int32, _ isRemoved: Bool) {
    var rules = filled()
    #expect(rules.take(.other) == [.ask])
    let steps = rules.take(.failure(Self.failure(status)), of: rules.generation, at: seconds(95), random: 1)
    #expect(steps == (isRemoved ? [.remove] : []))
    #expect(rules.nextAlarm == seconds(96))
    #expect(rules.alarm(at: seconds(96)) == [.ask])
    #expect(rules.nextAlarm == (isRemoved ? nil : seconds(100)))
    // The request still has no answer when the token ends.
    #expect(rules.alarm(at: seconds(100)) == (isRemoved ? [] : [.remove]))
  }

  @Test("Without the instance or the right to use it, it ends", arguments: [2, 4, 5] as [Int32])
  func finalFailures(_ status: Int32) {
    let failure = Self.failure(status)
    var rules = filled()
    #expect(rules.take(.other) == [.ask])
    #expect(rules.take(.failure(failure), of: rules.generation, at: .zero, random: 1) == [.remove, .end(failure)])
    var lost = filled()
    #expect(lost.take(.lost(failure)) == [.remove, .end(failure)])
  }

  @Test("Pauses between failed requests double up to a minute, vary, and obey the daemon")
  func pauses() {
    var rules = rules()
    var pauses: [Duration] = []
    for _ in 1...9 {
      #expect(rules.take(.other).last == .ask)
      _ = rules.take(.failure(Self.network), of: 0, at: .zero, random: 1)
      pauses.append(rules.nextAlarm ?? .zero)
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60].map(seconds))
    _ = rules.take(.other)
    _ = rules.take(.failure(Self.network), of: 0, at: .zero, random: 0)
    #expect(rules.nextAlarm == seconds(30))
    let limited = CommandFailure(.rpc(SDKError(.limit, .rateLimit, "No.", retryAfter: 300).rpcError))
    _ = rules.take(.other)
    _ = rules.take(.failure(limited), of: 0, at: .zero, random: 1)
    #expect(rules.nextAlarm == seconds(300))
  }

  @Test("A token that can't be renewed is asked for with growing pauses, and removed at its end")
  func staleToken() {
    var rules = filled(ttl: 100, minTTL: 30)
    #expect(rules.nextAlarm == seconds(70))
    #expect(rules.alarm(at: seconds(70)) == [.ask])
    #expect(rules.take(.token(Self.alice, ttl: 30), of: 0, at: seconds(70), random: 1) == [])
    #expect(rules.nextAlarm == seconds(71))
    #expect(rules.alarm(at: seconds(71)) == [.ask])
    #expect(rules.take(.token(Self.alice, ttl: 29), of: 0, at: seconds(71), random: 1) == [])
    #expect(rules.nextAlarm == seconds(73))
    #expect(rules.alarm(at: seconds(100)) == [.remove, .ask])
  }

  @Test("With --strict the file never holds a token that lives shorter than --min-ttl")
  func strict() {
    var rules = filled(ttl: 100, minTTL: 30, isStrict: true)
    #expect(rules.alarm(at: seconds(70)) == [.remove, .ask])
    #expect(rules.take(.token(Self.alice, ttl: 30), of: 0, at: seconds(70), random: 1) == [])
    #expect(
      rules.take(.token(Self.bob, ttl: 31), of: 0, at: seconds(70), random: 1) == [.write(Self.bob)])
  }

  @Test("A token without a known end stays until an event, and a huge one is no problem")
  func unknownEnd() {
    #expect(filled(ttl: nil).nextAlarm == nil)
    #expect(filled(ttl: 1e300).nextAlarm != nil)
    var rules = rules()
    _ = rules.take(.begun)
    #expect(rules.take(.token(Self.alice, ttl: -5), of: 0, at: .zero, random: 1) == [.remove])
  }

  @Test("At the end the file is removed, once")
  func end() {
    var rules = filled()
    #expect(rules.end() == [.remove])
    #expect(rules.end() == [])
  }
}
