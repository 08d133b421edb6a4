public import SDKProtocol

/// What a kind adds to an opened session.
public struct SessionOpening: Sendable, Hashable {
  /// Why nothing may be shown.
  public var hidden: Session.HiddenReason?
  /// Data about the user that goes with the session.
  public var data: [String: String]?
  /// What the visitor may edit.
  public var editableFields: [String]
  /// What the identity keeps no longer once this opening has been answered.
  public var delivered: [String: Secret]
  /// What the identity keeps from now on.
  public var learned: [String: Secret]

  /// Nothing added.
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
