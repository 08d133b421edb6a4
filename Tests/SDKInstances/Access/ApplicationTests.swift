import SDKInstances
import Testing

/// The applications in the names of scopes, as desktops make them.
struct ApplicationTests {
  @Test(
    "The application is read from the names of GNOME, KDE and Flatpak, and from no other unit",
    arguments: [
      ("app-gnome-org.gnome.Terminal-12345.scope", "org.gnome.Terminal"),
      ("app-gnome-firefox\\x2desr-4711.scope", "firefox-esr"),
      ("app-org.kde.konsole-0f3d6a1c2b4e4f0c9d8e7a6b5c4d3e2f.scope", "org.kde.konsole"),
      ("app-google\\x2dchrome-1.scope", "google-chrome"),
      ("app-flatpak-org.mozilla.firefox-3125479180.scope", "org.mozilla.firefox"),
      ("app-my\\x2dlauncher-a_b-1.scope", "a_b"),
      ("app-gnome-\\x2ehidden-1.scope", ".hidden"),
      ("app-gnome-M\\xc3\\xbcller-1.scope", "Müller"),
      ("app-gnome-a\\x5cx2db-1.scope", "a\\x2db"),
      ("app-gnome-gnome-1.scope", "gnome"),
      // Without a random part, or with hyphens that are not escaped, it is not known which part is the application.
      ("app-firefox.scope", nil), ("app-a-b-c-d.scope", nil), ("app-gnome-google-chrome-1.scope", nil),
      ("app-gnome--1.scope", nil), ("app--firefox-1.scope", nil), ("app-firefox-.scope", nil), ("app-.scope", nil),
      // Wrong escapes, and bytes that are no text.
      ("app-gnome-a\\x2-1.scope", nil), ("app-gnome-a\\xzz-1.scope", nil), ("app-gnome-a\\-1.scope", nil),
      ("app-gnome-a\\x+2-1.scope", nil), ("app-gnome-a\\X2d-1.scope", nil), ("app-gnome-a\\xff-1.scope", nil),
      // Units of other kinds.
      ("app-org.kde.kate@7f.service", nil), ("app-gnome-firefox-1.service", nil), ("session-3.scope", nil),
      ("vte-spawn-1-2.scope", nil), ("snap.firefox.firefox-1.scope", nil), ("firefox.service", nil), ("", nil),
    ] as [(String, String?)])
  func application(unit: String, expected: String?) {
    #expect(PeerProcess.UserUnit(unit: unit, uid: 1000).application == expected)
  }
}
