import JSONRPC

/// The files that give browsers the host program and the extension its origins.
struct BrowserFiles {
  /// A browser, by the directories that it reads.
  enum Browser: String, CaseIterable {
    case chromium, chrome, firefox
  }

  /// A file with a JSON text.
  struct File {
    /// The path below the root of the file system.
    let path: String
    let json: JSON
  }

  /// The id of the extension in Chromium, which follows from the key in its `manifest.json`.
  static let standardID = "infaacbialickffmcdppfjcjggchhadg"
  /// The id of the extension in Firefox.
  static let firefoxID = "sdkd@packages.invalid"
  /// The program that browsers start, from the package.
  static let standardHost = "/usr/libexec/sdkd-browser-host"
  /// The name of the host program, by which the extension asks for it.
  static let hostName = "sdkd"
  private static let text = "Joins pages to sdkd"

  let browser: Browser
  /// The origins whose pages get the content script.
  let origins: [String]
  /// The id of the extension in Chromium.
  var extensionID = standardID
  /// The URL from which Chromium installs and updates the extension by policy; `nil` if it is loaded from a directory.
  var updateURL: String?
  /// The path of the host program.
  var host = standardHost

  /// The files of this browser.
  var files: [File] {
    switch browser {
    case .chromium: chromium("/etc/chromium")
    case .chrome: chromium("/etc/opt/chrome")
    case .firefox: firefox("/usr/lib/mozilla")
    }
  }

  private var originList: JSON { ["origins": .array(origins.map(JSON.string))] }

  private func chromium(_ folder: String) -> [File] {
    var policy: JSONObject = ["3rdparty": ["extensions": .object(JSONObject([(extensionID, originList)]))]]
    if let updateURL { policy["ExtensionInstallForcelist"] = [.string("\(extensionID);\(updateURL)")] }
    return [
      hostFile(folder, ("allowed_origins", "chrome-extension://\(extensionID)/")),
      File(path: "\(folder)/policies/managed/sdkd.json", json: .object(policy)),
    ]
  }

  private func firefox(_ folder: String) -> [File] {
    [
      hostFile(folder, ("allowed_extensions", Self.firefoxID)),
      File(
        path: "\(folder)/managed-storage/\(Self.firefoxID).json",
        json: [
          "name": .string(Self.firefoxID), "description": "The origins whose pages may use sdkd", "type": "storage",
          "data": originList,
        ]),
    ]
  }

  private func hostFile(_ folder: String, _ allowed: (member: String, id: String)) -> File {
    var members: JSONObject = [
      "name": .string(Self.hostName), "description": .string(Self.text), "path": .string(host), "type": "stdio",
    ]
    members[allowed.member] = [.string(allowed.id)]
    return File(path: "\(folder)/native-messaging-hosts/\(Self.hostName).json", json: .object(members))
  }
}
