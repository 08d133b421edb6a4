import SDKProtocol

extension HostedInstance {
  /// A delegate was attached or detached: tells so, and plans anew, for there may be somebody to ask now.
  func delegateChanged(isAttached: Bool) async {
    await announce(isAttached ? .delegateAttached : .delegateDetached)
    await enter()
    defer { leave() }
    plan()
  }
}
