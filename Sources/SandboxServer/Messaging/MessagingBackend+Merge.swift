import Foundation
import JSONRPC

/// The control request `POST /_merge`, which merges two users as an agent or the vendor's API does.
extension MessagingBackend {
  static let controls = ["_merge"]

  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(call.body, known: ["from", "to", "reason"])
    let outgoing = try user(members, "from")
    let survivor = try user(members, "to")
    let reason = try members.text("reason") ?? "merge"
    if outgoing.id == survivor.id { throw ControlMistake("to", "is the same user") }
    if outgoing.externalID != nil, survivor.externalID == nil {
      throw ControlMistake("to", "an anonymous user can't absorb one that is known by an external id")
    }
    var absorbing = survivor
    absorb(outgoing, into: &absorbing)
    var session: String?
    if absorbing.externalID == nil {
      // The survivor's clients keep their token. Those of the outgoing user receive a new one.
      let fresh = UUID().uuidString.lowercased()
      if absorbing.furtherSessions.count >= SandboxLimits.tokensPerUser { absorbing.furtherSessions.removeFirst() }
      absorbing.furtherSessions.append(fresh)
      session = fresh
    }
    if let discarded = outgoing.externalID { known.removeValue(forKey: UTF8Key(discarded)) }
    users[absorbing.id] = absorbing
    let event = JSON.of([
      "type": "user:merge",
      "survivingAppUser": .of(["_id": .string(absorbing.id), "userId": .optional(absorbing.externalID)]),
      "outgoingAppUserId": .string(outgoing.id), "reason": .string(reason), "sessionToken": .optional(session),
    ])
    let told = publish(event, to: outgoing.id)
    return ["event": event, "sockets": .array(told.map { .number(Double($0)) })]
  }

  /// Returns the user whose `_id` or external id is in the member `name`. Throws if there is none.
  private func user(_ members: ControlMembers, _ name: String) throws(ControlMistake) -> MessagingUser {
    let id = try members.requiredText(name)
    guard let user = users[id] ?? known[UTF8Key(id)].flatMap({ users[$0] }) else {
      throw ControlMistake(name, "no such user")
    }
    return user
  }
}
