import Foundation
import JSONRPC

/// An event for one user.
struct InAppEvent: Sendable {
  /// The user's name at the vendor.
  let subject: String
  let name: String
  let data: JSON
}

/// Conversations, and the stream of their events.
extension InAppBackend {
  mutating func openConversation(_ call: BackendCall) throws(InAppRefusal) -> SandboxResponse {
    let access = try authorized(call).access
    guard let id = JSON(parsing: call.body)?["conversationId"]?.stringValue, UUID(uuidString: id) != nil,
      id == id.lowercased()
    else { throw InAppRefusal(400, "conversationId must be a UUID in lower case") }
    if conversations[id] != nil {
      try check(id, of: access)
      return SandboxResponse(200, json: ["conversationId": .string(id)])
    }
    conversations[id] = .init(owner: access.subject, deployment: access.deployment)
    emit(.init(subject: access.subject, name: "CONVERSATION_OPENED", data: ["conversationId": .string(id)]))
    return SandboxResponse(201, json: ["conversationId": .string(id)])
  }

  mutating func closeConversation(_ call: BackendCall) throws(InAppRefusal) -> SandboxResponse {
    let access = try authorized(call).access
    guard call.path.count == 5, let id = call.path.last, conversations[id] != nil else {
      throw .notFound("Conversation")
    }
    try check(id, of: access)
    conversations[id] = nil
    emit(.init(subject: access.subject, name: "CONVERSATION_CLOSED", data: ["conversationId": .string(id)]))
    return SandboxResponse(204)
  }

  private func check(_ id: String, of access: Access) throws(InAppRefusal) {
    guard let known = conversations[id], known.owner == access.subject, known.deployment == access.deployment else {
      throw InAppRefusal(403, "Forbidden", note: "the conversation is another user's")
    }
  }

  func conversations(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let access = try authorized(call).access
    let own = conversations.entries.filter { $0.value.owner == access.subject }
    return ["conversations": .array(own.map { ["conversationId": .string($0.key)] })]
  }

  // MARK: The stream

  /// Opens the stream of the user's events after the one that the client names.
  func openStream(_ call: BackendCall) throws(InAppRefusal) -> SandboxResponse {
    guard call.headers["x-org-id"] == DemoAccounts.inAppOrganizationID else {
      throw InAppRefusal(400, "X-Org-Id is required")
    }
    guard let after = call.headers["last-event-id"].flatMap({ Int($0) }), after >= 0 else {
      throw InAppRefusal(400, "Last-Event-Id is required")
    }
    var response = SandboxResponse(200, headers: ["Content-Type": ["text/event-stream"]])
    response.stream = .init(
      token: try authorized(call).text, after: after, pingMilliseconds: Int(settings.ping * 1000))
    return response
  }

  func part(of stream: ResponseStream, at now: Date) -> (text: String, after: Int)? {
    guard let access = accessTokens[stream.token], !access.isRevoked, access.expires > now else { return nil }
    var text = ""
    for (index, event) in events.enumerated() where index >= stream.after && event.subject == access.subject {
      text += "id: \(index + 1)\nevent: \(event.name)\ndata: \(String(decoding: event.data.encoded, as: UTF8.self))\n\n"
    }
    return (text, max(stream.after, events.count))
  }

  /// Adds an event. The stream is not resumed beyond the maximum number of them.
  mutating func emit(_ event: InAppEvent) {
    guard events.count < SandboxLimits.record else { return }
    events.append(event)
  }
}
