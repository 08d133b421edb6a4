import JSONRPC

@testable import SDKKinds

extension FuzzTarget {
  /// The Bayeux client: each line is a message of the server; `+N` lets N seconds pass, `bye` leaves.
  static let bayeux = FuzzTarget("bayeux") { input in
    var client = Bayeux(channel: "/sdk/apps/A/appusers/U", ext: ["appId": "A", "jwt": "t"], resuming: former(input))
    var (now, connects, handshakes) = (0.0, 0, 0)
    func check(_ step: Bayeux.Step) {
      for frame in step.frames {
        guard let message = (try? JSONParser.parse(frame))?.arrayValue?.first else {
          fatalError("A frame is no message.")
        }
        if message["channel"] == "/meta/connect" { connects += 1 }
        if message["channel"] == "/meta/handshake" { handshakes += 1 }
      }
      if let wake = step.wake { require(wake.isFinite && wake <= now + 400, "The client waits until \(wake).") }
      for case .failed(let words) in step.news {
        require(words.utf8.count <= 600, "The words of a failure are too long.")
      }
      for case .refused(let code, let words) in step.news {
        require((code ?? "").utf8.count + words.utf8.count <= 600, "The words of a refusal are too long.")
      }
    }
    check(client.take(.opened, at: now))
    for line in input.lines {
      if line.hasPrefix("+"), let seconds = UInt16(line.dropFirst()) {
        now += Double(seconds)
        check(client.take(.timer, at: now))
      } else if line == "bye" {
        check(client.take(.closing, at: now))
      } else {
        let wasOver = client.isOver
        let step = client.take(.text(line), at: now)
        check(step)
        require(!wasOver || step == Bayeux.Step(), "A client that is over does something.")
        for case .event(let data) in step.news { _ = MessagingMerge.all(in: data) }
      }
    }
    // Each handshake has its own connect, and no other one comes within a second.
    require(Double(connects) <= now + Double(handshakes) + 2, "\(connects) connects are sent in \(now) s.")
  }

  /// Inputs whose first line is `resume` begin with the client id of an earlier connection.
  private static func former(_ input: Input) -> String? { input.lines.first == "resume" ? "c0" : nil }
}
