import DelegateBridge
import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances

/// The order in which delegates get requests, and the handling of their responses.
struct DelegateOrderTests {
  @Test func `The latest attached is asked first, attaching again moves to the front`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let asked = Records<String>()
      let (one, two) = (await world.delegate("one", asked), await world.delegate("two", asked))
      #expect(try await world.ask(desk)?.token == Secret("two"))
      await world.attach(one)
      #expect(try await world.ask(desk)?.token == Secret("one"))
      _ = await world.call("delegate.detach", ["instances": ["desk"]], on: one)
      #expect(try await world.ask(desk)?.token == Secret("two"))
      _ = await world.call("delegate.detach", on: two)
      #expect(try await world.ask(desk) == nil)
      #expect(asked.all == ["two", "one", "two"])
    }
  }

  @Test func `What fails or is deferred is passed to the next`() async throws {
    let answers: [(Result<JSON, PeerRequestError>, String?)] = [
      (.success(["defer": true]), nil), (.failure(.timedOut), "providerTimeout"), (.failure(.closed), "providerFailed"),
      (.failure(.refused(.cancelled)), "providerFailed"), (.success(["tokne": "x"]), "providerFailed"),
      (.success("x"), "providerFailed"),
      (.failure(.refused(RPCError(code: -1, reason: "providerDenied", message: "no"))), "providerFailed"),
      (.failure(.refused(SDKError(.provider, .noProvider, "x").rpcError)), "providerFailed"),
    ]
    for (answer, failure) in answers {
      try await World.run { world in
        let desk = try await world.instance()
        let asked = Records<String>()
        let first = await world.delegate("first", asked)
        let last = await world.delegate("last", asked, answer: answer)
        #expect(try await world.ask(desk)?.token == Secret("first"), "\(answer)")
        #expect(asked.all == ["last", "first"])
        await world.delegates.end(first)
        let alone = await reason {
          let answer = try await world.ask(desk)
          #expect(answer?.isDeferred == true)
        }
        #expect(alone == failure, "\(answer)")
        #expect(asked.all == ["last", "first", "last"])
        await world.delegates.end(last)
        #expect(try await world.ask(desk) == nil)
      }
    }
  }

  @Test func `A denial ends the question`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let asked = Records<String>()
      _ = await world.delegate("first", asked)
      let denial = SDKError(.provider, .providerDenied, "My own words").rpcError
      _ = await world.delegate("last", asked, answer: .failure(.refused(denial)))
      let error = await #expect(throws: SDKError.self) { try await world.ask(desk) }
      #expect(error?.reason == .providerDenied)
      #expect(error?.message.contains("own words") == false)
      #expect(asked.all == ["last"])
    }
  }

  @Test func `The question is all that a delegate is sent, and the time is the shorter of two`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let link = FakeLink()
      let session = ClientSession(link: link)
      link.answer { _, _ in ["token": "t"] }
      await world.attach(session, timeout: 7)
      var question = world.question(desk)
      _ = try await world.delegates.answer(question, of: desk.actor.bridgeKey(nil), waits: false)
      var sent = question
      sent.deadline = world.clock.now + 7
      #expect(link.requests.last?.params == sent.json, "the deadline is that of the answer")
      question.deadline = world.clock.now + 3
      _ = try await world.delegates.answer(question, of: desk.actor.bridgeKey(nil), waits: false)
      #expect(link.requests.map(\.method) == ["delegate.getToken", "delegate.getToken"])
      #expect(link.requests.last?.params == question.json)
      #expect(link.requests.map(\.timeout) == [.seconds(7), .seconds(3)])
      question.deadline = world.clock.now
      #expect(await reason { _ = try await world.ask(question, desk) } == "providerTimeout")
      #expect(link.requests.count == 2, "a question that is too late is not asked")
    }
  }

  @Test func `Whoever doesn't read is not asked`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let link = FakeLink()
      link.answer { _, _ in ["token": "t"] }
      await world.attach(ClientSession(link: link))
      link.clog(1 << 20)
      #expect(await reason { _ = try await world.ask(desk) } == "providerFailed")
      #expect(link.requests.isEmpty)
    }
  }

  @Test func `Who has lost control is detached when next asked`() async throws {
    try await World.run { world in
      let rule = try #require(AccessRule("uid:7"))
      let desk = try await world.instance(access: AccessRules(control: [rule]))
      let asked = Records<String>()
      let session = await world.delegate("seven", asked, uid: 7)
      #expect(try await world.ask(desk)?.token == Secret("seven"))
      _ = try await world.call(
        "instance.update", ["instance": "desk", "access": ["control": [], "use": ["uid:7"]]], on: world.session()
      ).get()
      #expect(try await world.ask(desk) == nil)
      #expect(asked.all == ["seven"])
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey(nil)) == 0)
      try await eventually("it is told") { (try? await world.count(.delegateDetached)) == 1 }
      #expect(await world.call("delegate.attach", ["instances": ["desk"]], on: session).reason == "accessDenied")
    }
  }

  @Test(arguments: [true, false])
  func `A delegate that loses control or detaches before it answers supplies nothing`(detaches: Bool) async throws {
    try await World.run { world in
      let rule = try #require(AccessRule("uid:7"))
      let desk = try await world.instance(access: AccessRules(control: [rule]))
      let asked = Records<String>()
      _ = await world.delegate("first", asked)
      let link = FakeLink(uid: 7)
      let session = ClientSession(link: link)
      link.answer { _, _ in
        asked.add("seven")
        if detaches {
          _ = await world.call("delegate.detach", ["instances": ["desk"]], on: session)
        } else {
          _ = await world.call("instance.update", ["instance": "desk", "access": ["control": []]], on: world.session())
        }
        return ["token": "seven"]
      }
      await world.attach(session)
      #expect(try await world.ask(desk)?.token == Secret("first"))
      #expect(asked.all == ["seven", "first"])
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey(nil)) == 1)
    }
  }

  @Test func `A cancelled question ends at once and is not passed on`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let asked = Records<String>()
      _ = await world.delegate("first", asked)
      _ = await world.delegate("last", asked, answer: .failure(.cancelled))
      #expect(await reason { _ = try await world.ask(desk) } == "shuttingDown")
      #expect(asked.all == ["last"])
    }
  }
}
