import DelegateBridge
import JSONRPC
import Linux
import SDKInstances
import SDKProtocol

/// An instance as its file defines it (sdkd.toml(5)).
struct InstanceFile: Sendable, Hashable {
  /// The file.
  var file: String
  /// The line of its id; `nil` if it is unknown.
  var idLine: Int?
  /// The instance.
  var id: InstanceID
  /// The definition. Secrets that the file refers to are resolved: the settings contain their text.
  var definition: Definition
}

extension InstanceFile {
  /// The schema of an instance's file except its settings, whose schema is the kind's.
  static let schema = JSONSchema.object([
    .required("id", InstanceID.jsonSchema, "the instance"),
    .required("kind", KindName.jsonSchema, "its SDK"),
    .optional("labels", .map(.string(), atMost: 64), "labels for the operator"),
    .optional("settings", .any, "the kind's settings"),
    .optional("provider", ProviderConfiguration.jsonSchema, "its token provider"),
    .optional("access", AccessRules.jsonSchema, "who may do what"),
    .optional(
      "on_remove", .enumeration(Definition.OnRemove.allCases.map(\.rawValue)),
      "what happens when the file is gone: delete, or logout at the vendor first; delete"),
  ])
}

/// A reader that converts a parsed file to an instance, and records every mistake in it.
struct InstanceFileReader {
  let document: TOMLDocument
  let mode: FileMode
  let kinds: [any SDKKind]
  let secrets: SecretSource
  let log: MistakeLog
  /// Whether to refuse a provider that would run as a child of the daemon.
  let refusesCommand: Bool
  /// `[network] allow`; `nil` for the vendors' own domains.
  var networkAllow: [String]?

  private var values: ValueReader { ValueReader(root: .object(document.root), log: log) }

  /// The instance's id, if it is valid.
  var id: InstanceID? { document.root["id"]?.stringValue.flatMap(InstanceID.init) }

  /// Returns the instance; `nil` without a valid id and a known kind.
  func read() -> InstanceFile? {
    log.add(InstanceFile.schema.findings(in: .object(document.root)))
    let id = values.value(InstanceID.self, at: "id")
    let kind = kind()
    let settings = settings(of: kind)
    let provider = provider()
    let access = AccessRules(
      observe: rules("access.observe"), use: rules("access.use"), control: rules("access.control"))
    let onRemove = values.json(at: "on_remove")?.stringValue.flatMap(Definition.OnRemove.init)
    guard let id, let kind else { return nil }
    let definition = Definition(
      kind: kind.name, source: .file, owner: 0, settings: settings, provider: provider, access: access,
      labels: values.value([String: String].self, at: "labels") ?? [:], onRemove: onRemove)
    if let excess = definition.excess { log.add(excess.member, excess.sentence) }
    return InstanceFile(file: log.file, idLine: log.lines.line(of: "id"), id: id, definition: definition)
  }

  /// Returns the valid rules of a role; `nil` without an array or with too many rules.
  private func rules(_ path: String) -> [AccessRule]? {
    let count = values.json(at: path)?.arrayValue?.count ?? 0
    guard count <= AccessRules.maximumPerRole else {
      log.add(path, AccessRules.tooMany(count))
      return nil
    }
    return values.elements(at: path)
  }

  private func kind() -> (any SDKKind)? {
    guard let name = document.root["kind"]?.stringValue else { return nil }
    if let kind = kinds.first(where: { $0.name.name == name }) { return kind }
    let names = kinds.map(\.name.name)
    let nearest = name.nearest(in: names)
    let advice = nearest.map { "did you mean \($0)?" } ?? "the kinds are \(names.joined(separator: ", "))."
    log.add("kind", "This kind is not known; \(advice)", nearest: nearest)
    return nil
  }

  private func settings(of kind: (any SDKKind)?) -> JSONObject {
    let given = document.root["settings"] ?? .object([:])
    guard let kind else { return [:] }
    guard var settings = given.objectValue else {
      log.add([.wrong("settings", "a table")])
      return [:]
    }
    var isWhole = resolveSecrets(of: kind, in: &settings)
    let findings = kind.settings.schema.findings(in: .object(settings), at: "settings")
    log.add(findings)
    isWhole = isWhole && findings.isEmpty
    // The adapter has the most precise checks, but stops at the first mistake, so it comes last.
    if isWhole {
      tryAdapter(of: kind, settings)
      warn(of: kind.settings, settings)
    }
    return settings
  }

  /// Warns of settings with which the instance works until a call needs what is wrong.
  private func warn(of kind: KindSettings, _ settings: JSONObject) {
    for fault in kind.faults(settings) { log.warn("settings.\(fault.setting)", "This key \(fault.sentence)") }
    let rule = kind.supplied(settings, allowing: networkAllow, isOfAdmin: true)
    for (name, url) in kind.hiddenURLs(settings).sorted(by: { $0.key < $1.key }) {
      do throws(SDKError) {
        try rule.check(url, what: name)
      } catch {
        log.warn("settings.\(name)", error.message)
      }
    }
  }

  /// Replaces references to secrets with the secrets.
  ///
  /// - Returns: whether all secrets were found.
  private func resolveSecrets(of kind: any SDKKind, in settings: inout JSONObject) -> Bool {
    var isWhole = true
    for name in kind.settings.secrets.sorted() {
      let path = "settings.\(name)"
      switch settings[name] {
      case .string:
        guard mode.isReadableByOthers else { continue }
        log.add(
          path, "The file holds this secret and others can read it; chmod 600 it, or refer to a credential or file.")
      case .object(let reference):
        do throws(SecretProblem) {
          settings[name] = .string(try secrets.secret(reference))
        } catch {
          log.add(error.member.map { path.appending(key: $0) } ?? path, error.message, nearest: error.nearest)
          settings[name] = ""
          isWhole = false
        }
      default: continue
      }
    }
    return isWhole
  }

  private func tryAdapter(of kind: any SDKKind, _ settings: JSONObject) {
    do {
      _ = try kind.makeAdapter(settings: settings, services: .forChecking)
    } catch {
      note(error, at: "settings")
    }
  }

  private func provider() -> JSONObject? {
    guard let object = document.root["provider"]?.objectValue else { return nil }
    // A second check of a value with a wrong shape would only report the same mistake.
    guard ProviderConfiguration.jsonSchema.violation(in: .object(object)) == nil else { return nil }
    do {
      _ = try Settings.decode(ProviderConfiguration.self, from: object, at: "provider")
      if refusesCommand, object["command"] != nil {
        log.add(
          "provider.command",
          "In a system daemon a provider would run with the daemon's uid; allow it with same_uid = true in [bridge].")
      }
    } catch {
      note(error, at: "provider")
    }
    return object
  }

  private func note(_ error: any Error, at path: String) {
    guard let error = (error as? any RPCErrorConvertible)?.rpcError else {
      return log.add(path, "This can't be used.")
    }
    let member = error.data["member"]?.stringValue ?? path
    let key = member == path || member.hasPrefix("\(path).") ? member : path.appending(key: member)
    let hint = error.data["hints"]?.arrayValue?.first?.stringValue
    log.add(key, error.message, nearest: hint.flatMap { $0.hasPrefix("nearest: ") ? String($0.dropFirst(9)) : nil })
  }
}

extension AdapterServices {
  /// Services for an adapter that is created only to check its settings.
  static var forChecking: AdapterServices {
    AdapterServices(instance: "00000000-0000-0000-0000-000000000000", clock: .system, http: NoHTTP(), sockets: NoHTTP())
  }
}

/// A network client whose requests all fail, since checking a configuration must not use the network.
private struct NoHTTP: HTTPSending, SocketOpening {
  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    throw .network("A configuration is checked without the network.")
  }

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    throw .network("A configuration is checked without the network.")
  }
}
