import Glibc
import JSONRPC
import Linux
import SDKProtocol

/// The administrator's list of what the pages of each origin may use: `/etc/sdkd/browser.json`.
struct BrowserManifest {
  /// The list of a machine.
  static let standardPath = "/etc/sdkd/browser.json"
  private static let limit = 1 << 20

  /// The rights by origin, in the order of the file.
  private(set) var pages: [PageRights] = []
  /// The mistakes in the file, each as a sentence. A file with a mistake gives no page any right.
  private(set) var mistakes: [String] = []

  /// Reads the list in a file.
  ///
  /// - Throws: `CommandFailure` for a file that can't be read, and for one that others than its owner, the caller or
  ///   root, can change.
  init(at path: String) throws {
    let file: BoundedFile
    do throws(FileProblem) {
      file = try BoundedFile(reading: path, limit: Self.limit)
    } catch {
      throw Self.failure(error, path)
    }
    guard [0, Caller.process.uid].contains(file.mode.owner), file.mode.bits & 0o022 == 0 else {
      throw CommandFailure(
        message: "\(path) can be changed by others than root and you, and so lists nothing.",
        reason: "invalidConfiguration", status: 1, hints: ["chown root:root \(path) && chmod 644 \(path)"])
    }
    self.init(text: file.bytes)
  }

  /// Reads a list.
  init(text: [UInt8]) {
    do {
      let json = try JSONParser.parse(text)
      guard let origins = json["origins"]?.objectValue else {
        mistakes = ["The file is an object with the member origins, an object."]
        return
      }
      for key in json.objectValue?.keys ?? [] where key != "origins" {
        mistakes.append("\(key) is not a member of the file.")
      }
      for origin in origins.members { add(origin.key, origin.value) }
    } catch {
      mistakes = ["The text \(error.predicate)."]
    }
  }

  /// Returns the failure for a list that can't be read. Its hint opens the list to its readers if permissions are missing.
  private static func failure(_ problem: FileProblem, _ path: String) -> CommandFailure {
    var failure = CommandFailure(
      message: "The file \(path) \(problem).", reason: "invalidConfiguration", status: 1,
      hints: ["the page \"A kiosk in a browser\" shows one"])
    if problem == .system(EACCES), let obstacle = ReadObstacle.forCaller(path) {
      failure.message = "The file \(path) can't be read: \(Caller.process.name) may not \(obstacle.deed)."
      failure.hints = [obstacle.remedy]
    }
    return failure
  }

  /// Returns the rights of the pages of an origin; `nil` if it is not listed, or if there is a mistake anywhere.
  func rights(of origin: String) -> PageRights? {
    mistakes.isEmpty ? pages.first { $0.origin.utf8.elementsEqual(origin.utf8) } : nil
  }

  private mutating func add(_ origin: String, _ value: JSON) {
    if let mistake = Self.mistake(ofOrigin: origin) {
      mistakes.append("\(origin.debugDescription) is no origin: \(mistake).")
    }
    guard let members = value.objectValue else { return mistakes.append("\(origin) has an object.") }
    for key in members.keys where !["instances", "methods", "events"].contains(key) {
      mistakes.append("\(origin) has no member \(key), only instances, methods and events.")
    }
    let page = PageRights(
      origin: origin, instances: texts(members, "instances", origin), methods: texts(members, "methods", origin),
      events: texts(members, "events", origin))
    if page.instances.isEmpty { mistakes.append("\(origin) lists no instance.") }
    for instance in page.instances where InstanceID(instance) == nil {
      mistakes.append("\(origin): \(instance.debugDescription) can't be the id of an instance.")
    }
    for method in page.methods { check(method, origin) }
    for event in page.events where EventType(rawValue: event) == nil {
      let nearest = event.nearest(in: EventType.allCases.map(\.rawValue)).map { " Did you mean \($0)?" } ?? ""
      mistakes.append("\(origin): \(event) is no type of event.\(nearest)")
    }
    pages.append(page)
  }

  private mutating func check(_ method: String, _ origin: String) {
    if method.hasPrefix("events.") {
      mistakes.append("\(origin): \(method) needs no entry in methods; list the types of events in events.")
    } else if PageRights.isForbidden(method) {
      mistakes.append("\(origin): \(method) is about more than the listed instances, and for no page.")
    } else if method.split(separator: ".", omittingEmptySubsequences: false).count != 2 {
      mistakes.append("\(origin): \(method.debugDescription) is no name of a method.")
    } else if let space = method.split(separator: ".").first {
      // The methods of kinds are not known here. Those of the daemon itself are.
      let common = CommonMethods.all.map { $0.name }.filter { $0.hasPrefix("\(space).") }
      guard !common.isEmpty, !common.contains(method) else { return }
      let nearest = method.nearest(in: common).map { " Did you mean \($0)?" } ?? ""
      mistakes.append("\(origin): there is no method \(method).\(nearest)")
    }
  }

  private mutating func texts(_ members: JSONObject, _ member: String, _ origin: String) -> [String] {
    guard let value = members[member] else { return [] }
    let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
    if texts.count != value.arrayValue?.count { mistakes.append("\(origin): \(member) is an array of strings.") }
    return texts
  }

  /// Returns what keeps a text from being an origin to trust, as the end of a sentence; `nil` for one.
  private static func mistake(ofOrigin text: String) -> String? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ["https", "http"].contains(parts[0]), parts[1].hasPrefix("//") else {
      return "it begins with https://"
    }
    let authority = parts[1].dropFirst(2)
    let (host, port) = (authority.prefix { $0 != ":" }, authority.split(separator: ":").dropFirst().first)
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789.-".utf8)
    guard !host.isEmpty, host.utf8.allSatisfy(allowed.contains) else {
      return "its host is in lower case and ASCII, without wildcards"
    }
    guard (port.map { "\(host):\($0)" } ?? String(host)) == authority else {
      return "it ends after the host or the port"
    }
    if let port {
      guard let number = UInt16(port), String(number) == port else { return "its port is a number" }
      guard number != (parts[0] == "https" ? 443 : 80) else { return "browsers leave out the usual port" }
    }
    // Another machine on the network could answer for any other host.
    guard parts[0] == "https" || ["localhost", "127.0.0.1"].contains(host) else {
      return "http:// is for localhost and 127.0.0.1 only, since others on the network can answer for any other host"
    }
    return nil
  }
}
