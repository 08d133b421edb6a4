import DelegateBridge
public import JSONRPC
import SDKProtocol

/// The state of a connection, apart from its bytes, on its way to the next daemon.
struct HandedSession: Sendable {
  /// An instance that the connection is a delegate of.
  struct Attachment: Sendable {
    var instance: String
    var uuid: String
    /// The seconds that it may take to respond; `nil` for the usual time.
    var timeout: Double?
    /// The position among all attachments, as text: JSON's numbers are too small.
    var order: String
  }

  var subscriptions: HandedSubscriptions
  var attachments: [Attachment]
}

extension HandedSession {
  var json: JSON { ["subscriptions": subscriptions.json, "attachments": .array(attachments.map(\.json))] }

  /// Reads a state; `nil` if a member is missing or invalid.
  init?(_ json: JSON) {
    guard let subscriptions = json["subscriptions"].flatMap({ HandedSubscriptions($0) }),
      let elements = json["attachments"]?.arrayValue
    else { return nil }
    let attachments = elements.compactMap { Attachment($0) }
    guard attachments.count == elements.count else { return nil }
    self.init(subscriptions: subscriptions, attachments: attachments)
  }
}

extension HandedSession.Attachment {
  fileprivate var json: JSON {
    var object: JSONObject = ["instance": .string(instance), "uuid": .string(uuid)]
    object["timeout"] = timeout.map { JSON($0) }
    object["order"] = .string(order)
    return .object(object)
  }

  fileprivate init?(_ json: JSON) {
    guard let instance = json["instance"]?.stringValue, let uuid = json["uuid"]?.stringValue,
      let order = json["order"]?.stringValue
    else { return nil }
    self.init(instance: instance, uuid: uuid, timeout: json["timeout"]?.doubleValue, order: order)
  }
}

extension Gateway {
  /// Removes the subscriptions of a connection that another daemon continues. Returns them with its attachments.
  public func handOver(_ session: ClientSession) async -> JSON? {
    let attachments = delegates.attachments(of: session).map {
      HandedSession.Attachment(
        instance: $0.instance.id.name, uuid: $0.instance.uuid, timeout: $0.timeout.map { $0 / .seconds(1) },
        order: "\($0.order)")
    }
    return HandedSession(subscriptions: await events.handOver(session.key), attachments: attachments).json
  }

  /// Continues the subscriptions and attachments of a connection of an earlier daemon. What can't be read is left out.
  public func adopt(_ state: JSON, _ session: ClientSession) async {
    guard let handed = HandedSession(state) else { return }
    await events.adopt(handed.subscriptions, of: session.key, on: session.link)
    for attachment in handed.attachments {
      guard let id = InstanceID(attachment.instance), let order = UInt64(attachment.order) else { continue }
      let timeout = attachment.timeout.flatMap { $0.isFinite && $0 > 0 && $0 <= 86_400 ? Duration.seconds($0) : nil }
      delegates.adopt(session, (DelegatedInstance(id: id, uuid: attachment.uuid), timeout, order))
    }
  }
}
