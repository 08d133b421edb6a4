import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import sdkd

struct InstanceFileTests {
  private static let good = """
    id = "front-desk"
    kind = "zendesk.messaging"
    labels = { floor = "1" }
    [settings]
    base_url = "https://acme.zendesk.com/sc/sdk"
    app_id = "5f"
    [provider]
    command = ["/usr/libexec/front-desk-token"]
    [access]
    use = ["unit:kiosk.service", "group:support"]
    control = ["user:kiosk"]
    """

  private func lines(_ text: String) throws -> [String] {
    let files = try TemporaryConfiguration()
    try files.write(files.instance("a"), text)
    return files.load().lines
  }

  @Test func `The documented example is an instance`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.instance("front-desk"), Self.good)
    let loaded = files.load()
    #expect(loaded.lines == [])
    let instance = try #require(loaded.instances.first)
    #expect(instance.file == files.instance("front-desk"))
    #expect(instance.id.name == "front-desk")
    #expect(instance.definition.onRemove == nil)
    #expect(
      instance.definition
        == Definition(
          kind: KindName("zendesk.messaging"), source: .file, owner: 0,
          settings: ["base_url": "https://acme.zendesk.com/sc/sdk", "app_id": "5f"],
          provider: ["command": ["/usr/libexec/front-desk-token"]],
          access: AccessRules(
            use: [AccessRule("unit:kiosk.service"), AccessRule("group:support")].compactMap(\.self),
            control: [AccessRule("user:kiosk")].compactMap(\.self)),
          labels: ["floor": "1"]))
  }

  @Test func `Files are read by name; others in the directory are passed over`() throws {
    let files = try TemporaryConfiguration()
    for name in ["b", "a", "c-10", "c-2"] {
      try files.write(
        files.instance(name), Self.good.replacing("front-desk\"\nkind", with: "\(name)\"\nkind", maxReplacements: 1))
    }
    try files.write("instances.d/.hidden.toml", "?")
    try files.write("instances.d/x.toml~", "?")
    #expect(files.load().lines == [])
    #expect(files.load().instances.map(\.id.name) == ["a", "b", "c-10", "c-2"])
  }

  @Test(arguments: [
    ("id = \"front-desk\"", "id = \"Front\"", "1: id: An instance id has 1 to 64 characters"),
    ("id = \"front-desk\"", "id = 5", "1: id: This must be a string"),
    ("id = \"front-desk\"", "", "1: id: This key is missing; it takes a string"),
    ("zendesk.messaging", "zendesk.mesaging", "2: kind: This kind is not known; did you mean zendesk.messaging?"),
    ("zendesk.messaging", "irc", "2: kind: This kind is not known; the kinds are zendesk.messaging."),
    ("floor = \"1\"", "floor = 1", "3: labels.floor: This must be a string."),
    (
      "app_id", "app_ip",
      "4: settings.app_id: This key is missing; it takes a string.|6: settings.app_ip: This key is not known; did you"
    ),
    ("app_id = \"5f\"", "app_id = 5", "6: settings.app_id: This must be a string."),
    ("https:", "http:", "5: settings.base_url: The setting base_url must begin with https://"),
    ("app_id", "timeout = \"x\"\napp_id", "6: settings.timeout: A duration is a number"),
    ("app_id", "refresh = { jitter = 2 }\napp_id", "6: settings.refresh.jitter: The jitter is a number from 0 to 0.5."),
    ("app_id", "refresh = { mod = 2 }\napp_id", "6: settings.refresh.mod: This key is not known; did you mean mode?"),
    ("[\"/usr", "[\"usr", "8: provider.command: The command's first word must be an absolute path."),
    ("command", "comand", "8: provider.comand: This key is not known; did you mean command?"),
    ("[access]", "timeout = 601\n[access]", "9: provider.timeout: The timeout must be longer than nothing"),
    ("\"1\"", "\"" + String(repeating: "1", count: 256) + "\"", "3: labels: An instance has at most 64 labels"),
    (
      "\"group:support\"", (1...64).map { "\"uid:\($0)\"" }.joined(separator: ","),
      "10: access.use: There are 65 rules; a role has at most 64."
    ),
    ("unit:kiosk.service", "unit:*.service", "10: access.use[0]: \"unit:*.service\" is no access rule"),
    ("group:support", "grp:support", "10: access.use[1]: \"grp:support\" is no access rule"),
    ("control =", "contrl =", "11: access.contrl: This key is not known; did you mean control?"),
    ("labels", "on_remove = \"forget\"\nlabels", "3: on_remove: This must be one of delete, logout."),
  ])
  func `A mistake has its line and key`(part: String, replacement: String, expected: String) throws {
    let found = try lines(Self.good.replacing(part, with: replacement, maxReplacements: 1))
    let starts = expected.split(separator: "|")
    #expect(found.count == starts.count, "\(found)")
    for (line, start) in zip(found, starts) { #expect(line.hasPrefix(start)) }
  }

  @Test func `What a table lacks is missing where the table stands, or at the start without one`() throws {
    let found = try lines(Self.good.replacing("[settings]", with: "[setings]", maxReplacements: 1))
    #expect(
      found == [
        "1: settings.base_url: This key is missing; it takes a string (URL).",
        "1: settings.app_id: This key is missing; it takes a string.",
        "4: setings: This key is not known; did you mean settings?",
      ])
  }

  @Test func `Mistakes in several files come in their order, and good files are read beside them`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.instance("a"), "id = \"a\"\nkind = \"x\"\nsettings = 1\nwhat = 1")
    try files.write(files.instance("b"), Self.good)
    try files.write(files.instance("c"), "id = ")
    try files.write(files.main, "[lag]")
    let loaded = files.load()
    #expect(loaded.places == ["1 lag", "2 kind", "4 what", "1 -"])
    #expect(loaded.mistakes.map(\.file) == [files.main, files.instance("a"), files.instance("a"), files.instance("c")])
    #expect(loaded.instances.map(\.id.name) == ["front-desk"])
  }

  @Test func `An id stands in one file, and both are named`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.instance("a"), Self.good)
    try files.write(files.instance("b"), "# the same\n\(Self.good)")
    let loaded = files.load()
    #expect(
      loaded.mistakes.map(\.description) == [
        "\(files.instance("b")):2: id: front-desk is the id in \(files.instance("a")) too; each id stands in one file."
      ])
    #expect(loaded.instances.map(\.file) == [files.instance("a")])
  }

  @Test func `In a system daemon a command needs same_uid`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.instance("a"), Self.good)
    #expect(files.load(commandNeedsSameUid: true).places == ["8 provider.command"])
    try files.write(files.main, "[bridge]\nsame_uid = true")
    #expect(files.load(commandNeedsSameUid: true).places == [])
  }
}
