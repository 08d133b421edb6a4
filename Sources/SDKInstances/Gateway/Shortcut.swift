import JSONRPC
import SDKProtocol

/// A read on one instance that is answered on the event loop when the answer is in memory.
///
/// The gateway checks the call before it asks for an answer, as it checks the calls that take the general path.
protocol ImmediateRead: SDKMethod where Params: InstanceParams & PlainParams {
  /// Returns the answer to a call; `nil` for a call that takes the general path. Must be quick, and must not wait.
  static func answer(_ params: Params, by instance: HostedInstance) -> ShortAnswer?
}

/// The answer to a call on the event loop.
struct ShortAnswer {
  /// The result as JSON text.
  var text: [UInt8]
  /// The instance that the call is about.
  var instance: InstanceID?
  /// The credential in the result.
  var issued: EndedCall.IssuedCredential?
}

/// The gateway's way to answer some calls of a method on the event loop, before their params are decoded.
///
/// A struct, because a function in a dictionary or an `Optional` is called through several others.
public struct Shortcut: Sendable {
  /// The name of the method.
  let name: String
  /// Returns the answer to a call; `nil` for a call that takes the general path, such as one that is refused there.
  let answer: @Sendable (_ params: JSON?, ClientSession) -> ShortAnswer?

  /// Creates the shortcut of a read on one instance; `nil` for another method.
  ///
  /// A call takes the general path unless all hold: the daemon serves; the connection's process is known and no earlier
  /// write of it is unfinished; the caller has the role; the instance has the method's kind.
  init?<M: ImmediateRead>(_ method: M.Type, on registry: InstanceRegistry) {
    guard case .role(let needed) = M.access, M.ordering == .read else { return nil }
    let (concern, kind) = (M.concern, M.kind)
    name = M.name
    answer = { json, session in
      guard registry.availability.isServing, let json, let params = M.Params(plain: json) else { return nil }
      let peer = session.link.peer
      // The general path looks up the process at the first call.
      guard peer.knowsProcess, !session.hasPendingWrites(params.instance, for: concern),
        let instance = registry.hosted(params.instance), kind == nil || kind == instance.kind,
        let role = registry.role(of: peer, on: instance), role >= needed
      else { return nil }
      return M.answer(params, by: instance)
    }
  }

  /// Creates the shortcut of a method for every caller that needs no state and has no params; `nil` for another method.
  init?<M: SDKMethod>(_ method: M.Type, _ reply: @escaping @Sendable () -> [UInt8]) where M.Params == Empty {
    guard M.access == .anyone, M.ordering == .free, !M.needsState else { return nil }
    name = M.name
    answer = { params, _ in
      params == nil || params?.objectValue?.isEmpty == true ? ShortAnswer(text: reply()) : nil
    }
  }
}
