/// The type of an event (`protocol.md`, "Events").
public enum EventType: String, Sendable, Codable, CaseIterable {
  case userLoggedIn, userLoggedOut, logoutFailed, authenticationFailed, tokenRefreshed, refreshFailed
  case fellBackToAnonymous, userMerged, identityChanged, identityWiped, settingsUpdated, networkError
  case pushRegistered, pushUnregistered, pushOrphaned
  case delegateAttached, delegateDetached, breakerOpened, breakerClosed
  case instanceCreated, instanceUpdated, instanceDeleted
}
