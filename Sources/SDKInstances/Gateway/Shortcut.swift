public import JSONRPC
import SDKProtocol

/// A function that answers some calls of a method on the event loop, before their params are decoded. It must be quick
/// and must not wait. It returns `nil` for calls that take the general path, such as those with invalid params.
///
/// The gateway checks nothing before it: a shortcut checks the caller's role and what else must hold.
public typealias Shortcut = @Sendable (_ params: JSON?, ClientSession) -> ShortAnswer?

/// The answer of a shortcut.
public struct ShortAnswer: Sendable {
  /// The result as JSON text.
  var text: [UInt8]
  /// The instance that the call is about.
  var instance: InstanceID?
  /// The credential in the result.
  var issued: EndedCall.IssuedCredential?
}
