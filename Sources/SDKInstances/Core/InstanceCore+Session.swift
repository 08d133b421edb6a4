import SDKProtocol

extension InstanceCore {
  /// Creates the session that an app gets, and stores what opening it has added to the kind's state. Data that may be
  /// issued only once is removed from the state before it is issued.
  ///
  /// - Parameters:
  ///   - token: the token of the session; `nil` for one without a credential.
  ///   - epoch: the service's epoch when the opening began.
  /// - Returns: the session; `nil` if the identity or its token has changed since.
  mutating func open(
    _ opening: SessionOpening, with token: Token?, since epoch: UInt64, on service: String?
  ) throws(SDKError) -> (step: Step, value: Session?) {
    let state = try existing(service)
    guard epoch == state.machine.epoch, token == nil || token?.tokenId == state.identity.credential?.tokenId else {
      return (Step(), nil)
    }
    let prefill = opening.hidden == nil ? adapter.capabilities.sessions?.prefill(of: state.identity) : nil
    let step = forget(prefill.map { [$0.key] } ?? [], opening, on: service)
    if let reason = opening.hidden { return (step, hiddenSession(reason, of: state)) }
    let session = Session(
      user: state.visibleUser, token: token, endpoint: adapter.endpoint(for: state.identity), visible: true,
      prefill: prefill?.text, data: opening.data, editableFields: opening.editableFields,
      history: adapter.traits.hasHistory, mayMerge: token?.tokenType == .sessionToken,
      live: keepsConnection(state) ? state.connection.isOpen : nil,
      storageEpoch: clientStorageEpoch, service: service)
    return (step, session)
  }

  /// Returns a session without a token and with a hidden conversation, for this reason.
  func hiddenSession(_ reason: Session.HiddenReason, of state: ServiceState) -> Session {
    Session(
      user: state.visibleUser, endpoint: adapter.endpoint(for: state.identity), visible: false, reason: reason,
      history: adapter.traits.hasHistory, mayMerge: false, storageEpoch: clientStorageEpoch, service: state.service)
  }

  /// Removes data that may be issued only once from the kind's state, and adds what the opening of a session has
  /// learned.
  private mutating func forget(_ keys: [String], _ opening: SessionOpening, on service: String?) -> Step {
    guard var record = self[service]?.identity else { return Step() }
    for key in keys { record.kindState[key] = nil }
    for (key, value) in opening.delivered where record.kindState[key] == value { record.kindState[key] = nil }
    record.kindState.merge(opening.learned) { _, new in new }
    return replaceIdentity(of: service, by: record)
  }
}
