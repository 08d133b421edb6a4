public import SDKProtocol

/// A kind's additions to an opened session.
public struct SessionOpening: Sendable, Hashable {
  /// The reason to show nothing; `nil` for none.
  public var hidden: Session.HiddenReason?
  /// Data about the user that goes with the session.
  public var data: [String: String]?
  /// The fields that the visitor may edit.
  public var editableFields: [String]
  /// The state that is removed from the identity once this opening has been answered.
  public var delivered: [String: Secret]
  /// The state that the identity keeps from now on.
  public var learned: [String: Secret]

  /// An opening, by default without additions.
  public init(
    hidden: Session.HiddenReason? = nil, data: [String: String]? = nil, editableFields: [String] = [],
    delivered: [String: Secret] = [:], learned: [String: Secret] = [:]
  ) {
    self.hidden = hidden
    self.data = data
    self.editableFields = editableFields
    self.delivered = delivered
    self.learned = learned
  }
}
