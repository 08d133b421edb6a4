import JSONRPC
import SDKProtocol

/// The check of the vendors' servers: whether they respond to this machine, and how far its clock differs from theirs.
struct VendorCheck {
  /// A server and the instances that use it.
  struct Origin: Hashable {
    /// The origin, such as `https://acme.zendesk.com`.
    var url: String
    /// The instances' own proxy, as their setting `proxy`; `nil` for the daemon's.
    var proxy: String?
    /// The file of authorities that the instances trust, as their setting `ca_file`; `nil` for the daemon's.
    var caFile: String?
    /// The ids of the instances that use the server.
    var instances: [String]
  }

  /// The clock differences, in seconds, that are a warning and a failure. A token's end is compared with the vendor's
  /// clock: further apart, tokens are refused or kept too long.
  private static let worrying = 5.0
  private static let harmful = 60.0

  let origins: [Origin]
  /// The URL of the daemon's proxy; `nil` for direct connections.
  var proxy: String?
  /// The hosts that the daemon reaches without its proxy.
  var exceptions: [String] = []
  /// Whether the daemon's proxy is known: `daemon.info` shows it to admins only.
  var knowsProxy = true
  /// The authorities that the daemon trusts.
  var authorities = TrustedAuthorities.system

  /// Returns the servers named in instances' settings, in those that the kind's schema declares as URLs.
  static func origins(of instances: [JSON], _ document: JSON) -> [Origin] {
    var urls: [String: [String]] = [:]
    for kind in document["x-kinds"]?.arrayValue ?? [] {
      let properties = kind["settings"]?["properties"]?.objectValue?.members ?? []
      urls[kind["name"]?.stringValue ?? ""] = properties.filter { $0.value["format"] == "uri" }.map(\.key)
    }
    var found: [Origin] = []
    for instance in instances {
      let id = instance["instance"]?.stringValue ?? "?"
      for key in urls[instance["kind"]?.stringValue ?? ""] ?? [] {
        guard let origin = instance["settings"]?[key]?.stringValue.flatMap(origin) else { continue }
        let proxy = instance["settings"]?["proxy"]?.stringValue
        let caFile = instance["settings"]?["ca_file"]?.stringValue
        let isSame = { (other: Origin) in other.url == origin && other.proxy == proxy && other.caFile == caFile }
        if let index = found.firstIndex(where: isSame) {
          if !found[index].instances.contains(id) { found[index].instances.append(id) }
        } else {
          found.append(Origin(url: origin, proxy: proxy, caFile: caFile, instances: [id]))
        }
      }
    }
    return found
  }

  /// Returns scheme, host and port of an HTTP URL; `nil` for any other text.
  static func origin(_ url: String) -> String? {
    guard let scheme = ["https://", "http://"].first(where: url.hasPrefix) else { return nil }
    let rest = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return rest.isEmpty || rest.contains("@") ? nil : scheme + rest
  }

  /// Returns a finding for each server, for at most 20.
  func findings() -> [Finding] {
    origins.prefix(20).map { origin in
      let names = origin.instances.prefix(5).joined(separator: ", ") + (origin.instances.count > 5 ? ", …" : "")
      if origin.proxy == "environment" {
        return Finding(
          .skipped, "vendor", "\(origin.url) (\(names)) was not looked at: the proxy is in the daemon's environment.")
      }
      return look(at: origin.url, names, way(to: origin), origin.caFile.map(TrustedAuthorities.file) ?? authorities)
    }
  }

  /// Returns the options with which curl uses the daemon's proxy for a server, whatever curl's own environment says.
  /// Returns none, so that curl uses its environment, when the daemon's proxy is not known.
  func way(to origin: Origin) -> [String] {
    if !knowsProxy, origin.proxy == nil { return [] }
    guard let proxy = origin.proxy ?? proxy, proxy != "none" else { return ["--noproxy", "*"] }
    let direct = ["localhost", "127.0.0.0/8", "::1"] + exceptions
    return ["--proxy", proxy, "--noproxy", direct.joined(separator: ",")]
  }

  private func look(at url: String, _ names: String, _ way: [String], _ authorities: TrustedAuthorities) -> Finding {
    let before = Timestamp.now
    let ended: ChildProcess.Ended
    do {
      ended = try ChildProcess.run(
        [
          "curl", "--silent", "--show-error", "--head", "--max-time", "5", "--output", "/dev/null", "--dump-header",
          "-",
          "--suppress-connect-headers",
        ] + way + authorities.options + ["--", url + "/"])
    } catch {
      return Finding(
        .skipped, "vendor", "\(url) (\(names)) was not looked at: curl can't be run.", advice: "apt install curl")
    }
    guard ended.status == 0 else { return Self.failure(ended, "\(url) (\(names))", way, authorities) }
    let after = Timestamp.now
    guard let date = Self.time(inHeaders: ended.output) else {
      return Finding(.ok, "vendor", "\(url) (\(names)) answers.")
    }
    // The `Date` header has whole seconds.
    let skew = max(0, max(date - after, before - (date + 1)))
    let apart =
      "\(url) (\(names)) answers; its clock is \(Elapsed.text(seconds: skew)) \(date > after ? "ahead" : "behind")."
    if skew < Self.worrying { return Finding(.ok, "vendor", "\(url) (\(names)) answers; its clock is this machine's.") }
    return Finding(skew < Self.harmful ? .warning : .failing, "vendor", apart, advice: "timedatectl set-ntp true")
  }

  /// Returns the finding for a server that curl could not ask.
  static func failure(
    _ ended: ChildProcess.Ended, _ server: String, _ way: [String], _ authorities: TrustedAuthorities
  ) -> Finding {
    if ended.errors.contains(" 407"), let proxy = way.first == "--proxy" ? way[1] : nil {
      return Finding(
        .skipped, "vendor",
        "\(server) was not looked at: the proxy \(proxy) wants credentials, which only the daemon has.")
    }
    if ended.status == 77, authorities.isForbidden {
      return Finding(
        .skipped, "vendor", "\(server) was not looked at: this user can't read the file of its authorities.",
        advice: "run sdkctl doctor as root")
    }
    let isUnknownIssuer = ["issuer", "self-signed", "self signed"].contains { ended.errors.contains($0) }
    if ended.status == 60, isUnknownIssuer, authorities == .unknown {
      return Finding(
        .warning, "vendor",
        "\(server) has a certificate that this machine does not trust. This user can't see whether the daemon has a "
          + "ca_file that trusts it.", advice: "run sdkctl doctor as root, or set ca_file")
    }
    let why = ended.errors.split(separator: "\n").first.map(String.init) ?? "curl ended with \(ended.status)"
    let certificates = if case .file(let file) = authorities { file } else { "the package ca-certificates" }
    // curl ends with 77 if the file of the authorities is missing or invalid.
    let advice =
      switch ended.status {
      case 60: "look at the clock and at \(certificates)"
      case 77: "look at \(certificates)"
      default: "look at network, DNS and proxy"
      }
    return Finding(.failing, "vendor", "\(server) can't be reached: \(why).", advice: advice)
  }

  /// Returns the time of the last `Date` header in a text; `nil` when there is none, or it can't be read.
  static func time(inHeaders text: String) -> Timestamp? {
    let line = text.split(whereSeparator: \.isNewline).last { $0.lowercased().hasPrefix("date:") }
    return line.flatMap { Timestamp(httpDate: String($0.dropFirst(5).drop { $0 == " " })) }
  }
}
