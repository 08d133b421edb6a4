import JSONRPC
import SDKProtocol

/// The rights of the pages of one origin: what `browser.json` lists for it.
struct PageRights: Hashable {
  /// The decision on a message of a page.
  enum Decision: Equatable {
    /// The message to send to the daemon, made of the values that were checked.
    case send(JSON)
    /// The response to the page; `nil` for a notification, which has none.
    case refuse(JSON?)
  }

  /// The origin of the pages, as browsers write it.
  var origin: String
  /// The instances that the pages may name.
  var instances: [String]
  /// The methods that the pages may call.
  var methods: [String]
  /// The types of events that the pages may follow.
  var events: [String]

  /// Returns the decision on a message.
  func decision(on message: JSON) -> Decision {
    guard let members = message.objectValue else {
      return .refuse(Self.response(.null, .invalidRequest("A message is one JSON object, not \(message.typeName).")))
    }
    guard let name = members["method"] else { return answer(members) }
    do throws(RPCError) {
      guard let method = name.stringValue else {
        throw RPCError.invalidRequest("The name of a method is a string.", member: "method")
      }
      var request: JSONObject = ["jsonrpc": "2.0"]
      if let id = members["id"] { request["id"] = try Self.checked(id: id) }
      request["method"] = name
      request["params"] = .object(try params(of: method, try Self.object(members["params"])))
      return .send(.object(request))
    } catch {
      return .refuse(members["id"].map { Self.response((try? Self.checked(id: $0)) ?? .null, error) })
    }
  }

  /// Returns the decision on a page's answer to a question of the daemon, which a delegate gets.
  private func answer(_ members: JSONObject) -> Decision {
    var response: JSONObject = ["jsonrpc": "2.0"]
    response["id"] = members["id"]
    response["result"] = members["result"]
    response["error"] = members["error"]
    guard response.count == 3, response["id"] != nil else {
      return .refuse(
        Self.response(.null, .invalidRequest("A message has a method, or an id with a result or an error.")))
    }
    return .send(.object(response))
  }

  /// Returns the params to send for a call.
  ///
  /// - Throws: `accessDenied` for an instance or event type that the page's rights do not list, even if it does not exist.
  private func params(of method: String, _ params: JSONObject) throws(RPCError) -> JSONObject {
    switch method {
    case "$/cancelRequest": return params
    case EventsSubscribe.name:
      var narrowed = params
      narrowed["instances"] = .array(try listed(params, "instances", instances))
      narrowed["types"] = .array(try listed(params, "types", events))
      return narrowed
    case EventsResume.name, EventsUnsubscribe.name:
      // They name a subscription of this connection, which was checked when it was made.
      guard !events.isEmpty else { throw denied("follow events") }
    case DelegateAttach.name:
      guard methods.contains(method) else { throw denied("call \(method)") }
      _ = try listed(params, "instances", instances)
    case DelegateDetach.name:
      guard methods.contains(DelegateAttach.name) else { throw denied("call \(method)") }
    default:
      guard methods.contains(method), !Self.isForbidden(method) else { throw denied("call \(method)") }
      guard let instance = params["instance"]?.stringValue else {
        throw .invalidParams("A page names the instance of each call.", member: "instance")
      }
      guard instances.contains(instance) else { throw denied("use the instance \(instance)", instance: instance) }
    }
    return params
  }

  /// Returns a list of a page's params, all of which must be listed. All that is listed without the param.
  private func listed(_ params: JSONObject, _ member: String, _ all: [String]) throws(RPCError) -> [JSON] {
    guard !all.isEmpty else { throw denied(member == "types" ? "follow events" : "use any instance") }
    guard let given = params[member], !given.isNull else { return all.map(JSON.string) }
    guard let elements = given.arrayValue else {
      throw .invalidParams("The param \(member) is an array, not \(given.typeName).", member: member)
    }
    // An empty list would mean all of the daemon's.
    guard !elements.isEmpty else { return all.map(JSON.string) }
    for element in elements {
      guard let text = element.stringValue, all.contains(text) else {
        let what = element.stringValue ?? element.typeName
        throw denied(member == "types" ? "follow \(what)" : "use the instance \(what)")
      }
    }
    return elements
  }

  private func denied(_ what: String, instance: String? = nil) -> RPCError {
    RPCError(
      code: RPCError.accessDeniedCode, reason: Reason.accessDenied.rawValue,
      message:
        "The pages of \(origin) may not \(what.clipped(toUTF8: 200)). The administrator lists in browser.json what they may.",
      data: instance.map { ["instance": .string($0.clipped(toUTF8: 200))] } ?? [:])
  }

  private static func object(_ params: JSON?) throws(RPCError) -> JSONObject {
    guard let params, !params.isNull else { return [:] }
    guard let object = params.objectValue else { throw .invalidParams("Params go by name, in an object.") }
    return object
  }

  private static func checked(id: JSON) throws(RPCError) -> JSON {
    switch id {
    case .string, .number: id
    default: throw .invalidRequest("An id is a string or a number.", member: "id")
    }
  }

  private static func response(_ id: JSON, _ error: RPCError) -> JSON {
    ["jsonrpc": "2.0", "id": id, "error": error.json]
  }

  /// Whether a method is about more than one instance, or about the machine. No page gets it, whatever is listed.
  static func isForbidden(_ method: String) -> Bool {
    ["daemon.", "rpc.", "events."].contains { method.hasPrefix($0) }
      || [InstanceCreate.name, InstanceDelete.name, InstanceList.name, InstanceUpdate.name].contains(method)
  }
}

extension RPCError {
  /// The code of errors with the reason `accessDenied`.
  static let accessDeniedCode = -32001
}
