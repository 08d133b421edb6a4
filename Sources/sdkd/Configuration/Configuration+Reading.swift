import DelegateBridge
import JSONRPC
import JSONRPCTransport
import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore

extension Configuration {
  /// Reads merged settings. Those that are missing or invalid keep their default.
  ///
  /// - Parameters:
  ///   - log: collects the mistakes about values; those in the form of the files are known.
  ///   - secrets: resolves the secrets that the settings refer to.
  init(
    reading settings: MergedSettings, _ log: MistakeLog, secrets: SecretSource = SecretSource(credentialsDirectory: nil)
  ) {
    self.init()
    let reader = ValueReader(root: .object(settings.root), log: log)
    readAccess(reader)
    readBridge(reader)
    delegateGrace =
      reader.duration(at: "delegate.grace", from: 0, to: 600, "at most 10m")?.value ?? delegateGrace
    limits = Limits(reader, defaults: limits)
    readNetwork(reader, secrets)
    readRest(reader)
  }

  private mutating func readNetwork(_ reader: ValueReader, _ secrets: SecretSource) {
    networkAllow = reader.elements(String.self, at: "network.allow") {
      HostPattern.isValid($0)
        ? nil : "This must be a host or domain such as example.com, without scheme, port and path."
    }
    let proxy = reader.value(String.self, at: "network.proxy") { text in
      if let mistake = ProxyChoice.mistake(in: text) { return "This \(mistake)" }
      return text == "environment" ? ProxyEnvironment.current.mistake : nil
    }
    network.proxy = proxy.flatMap { ProxyChoice($0) } ?? network.proxy
    network.credentials = proxyCredentials(reader, secrets)
    network.exceptions = ProxyExceptions(
      reader.elements(String.self, at: "network.proxy_exceptions") {
        HostPattern.isValid($0) || AddressRange($0) != nil
          ? nil : "This must be a host or domain such as example.com, an IP address, or a range such as 10.0.0.0/8."
      } ?? [])
    network.caFile = reader.value(String.self, at: "network.ca_file", check: CertificateFile.mistake)
  }

  private func proxyCredentials(_ reader: ValueReader, _ secrets: SecretSource) -> Secret? {
    let path = "network.proxy_credentials"
    guard let reference = reader.json(at: path)?.objectValue,
      reference.members.allSatisfy({
        ["credential", "file"].contains($0.key) && $0.value.stringValue != nil
      })
    else { return nil }
    do throws(SecretProblem) {
      let text = try secrets.secret(reference)
      if let mistake = ProxyServer.mistake(inCredentials: text) {
        throw SecretProblem(message: "The secret \(mistake)")
      }
      if network.proxy == .none, !reader.log.has("network.proxy") {
        throw SecretProblem(message: "These are for the proxy of [network], which is none.")
      }
      return Secret(text)
    } catch {
      reader.log.add(error.member.map { path.appending(key: $0) } ?? path, error.message, nearest: error.nearest)
      return nil
    }
  }

  private mutating func readAccess(_ reader: ValueReader) {
    admins = reader.elements(at: "access.admins") ?? []
    for index in (reader.json(at: "access.create")?.arrayValue ?? []).indices {
      let rule = reader.element(index, of: "access.create")
      let who = rule.value(AccessRule.self, at: "who")
      let prefix = rule.value(String.self, at: "prefix") {
        $0.isEmpty || InstanceID($0) != nil
          ? nil : "No instance id begins with this; write a-z, 0-9, dot, underscore and hyphen."
      }
      let most = rule.integer(at: "max", 1...)
      if let who, let prefix, let most { createRules.append(.init(who: who, prefix: prefix, max: most)) }
    }
  }

  private mutating func readBridge(_ reader: ValueReader) {
    providerDirectories =
      reader.elements(String.self, at: "bridge.allow") {
        $0.hasPrefix("/") && !$0.split(separator: "/").contains("..")
          ? nil : "This must be an absolute path without \"..\"."
      } ?? []
    providerSockets =
      reader.value(String.self, at: "bridge.unit_sockets") {
        $0.hasPrefix("/") && $0.utf8.count <= 80 ? nil : "This must be an absolute path of at most 80 bytes."
      } ?? providerSockets
    sameUid = reader.json(at: "bridge.same_uid")?.boolValue ?? sameUid
    providerSlots = SlotLimits(
      concurrent: reader.integer(at: "bridge.max_concurrent", 1...4096) ?? providerSlots.concurrent,
      running: reader.integer(at: "bridge.max_running", 1...65_536) ?? providerSlots.running)
    if providerSlots.running < providerSlots.concurrent {
      reader.log.add(
        reader.key(for: "bridge.max_concurrent", or: "bridge.max_running"),
        "max_running must be at least max_concurrent: it counts those too.")
    }
  }

  private mutating func readRest(_ reader: ValueReader) {
    let age = reader.duration(at: "events.retention.age", from: 0, to: 315_360_000, "at most 3650d")
    retention = EventRetention(
      maxAge: age?.value ?? retention.maxAge,
      maxCountPerInstance: reader.integer(at: "events.retention.count", 0...1_000_000) ?? retention.maxCountPerInstance)
    metricsListen = reader.value(String.self, at: "metrics.listen", check: Self.metricsMistake)
      .flatMap { try? ListenAddress($0) }
    grace = reader.duration(at: "shutdown.grace", from: 0, to: 600, "at most 10m")?.value ?? grace
    backup.every =
      reader.value(Seconds.self, at: "backup.every") {
        $0.value == 0 || $0 >= Seconds(literal: 60) ? nil : "This must be at least 1m, or 0 for no backups."
      } ?? backup.every
    backup.keep = reader.integer(at: "backup.keep", 1...1000) ?? backup.keep
    logLevel = reader.json(at: "log.level")?.stringValue.flatMap(Logger.Level.init(rawValue:)) ?? logLevel
  }
}

extension Configuration {
  private static func metricsMistake(_ text: String) -> String? {
    do throws(ListenAddress.Mistake) {
      _ = try ListenAddress(text)
      return nil
    } catch {
      switch error {
      case .malformed: return "This must be HOST:PORT, such as 127.0.0.1:9464, or the absolute path of a socket."
      case .notLoopback:
        return "Metrics are served to this machine only: write 127.0.0.1:PORT, [::1]:PORT or the path of a socket."
      }
    }
  }
}

extension Configuration.Limits {
  fileprivate init(_ reader: ValueReader, defaults: Self) {
    self = defaults
    func bytes(_ key: String) -> ByteCount? {
      reader.value(ByteCount.self, at: key) {
        $0 >= .kibibytes(64) && $0.bytes <= 256 << 20 ? nil : "This must be from 64KiB to 256MiB."
      }
    }
    maxFrameBytes = bytes("limits.max_frame_bytes") ?? maxFrameBytes
    maxOutboundBytes = bytes("limits.max_outbound_bytes") ?? maxOutboundBytes
    frameTimeout = reader.duration(at: "limits.frame_timeout", from: 1, to: 3600, "from 1s to 1h") ?? frameTimeout
    writeTimeout = reader.duration(at: "limits.write_timeout", from: 1, to: 3600, "from 1s to 1h") ?? writeTimeout
    maxInFlight = reader.integer(at: "limits.max_in_flight", 1...65_536) ?? maxInFlight
    maxInFlightPerUid = reader.integer(at: "limits.max_in_flight_per_uid", 1...1_000_000) ?? maxInFlightPerUid
    bufferedBytesPerUid = Self.buffers(reader, "limits.buffered_bytes_per_uid") ?? bufferedBytesPerUid
    connections = reader.integer(at: "limits.connections", 1...65_536) ?? connections
    totalConnections = reader.integer(at: "limits.total_connections", 1...65_536) ?? totalConnections
    subscriptions = reader.integer(at: "limits.subscriptions", 0...65_536) ?? subscriptions
    subscriptionsPerUid = reader.integer(at: "limits.subscriptions_per_uid", 0...1_000_000) ?? subscriptionsPerUid
    callsPerSecond = reader.integer(at: "limits.calls_per_second", 1...1_000_000) ?? callsPerSecond
    readTotals(reader)
    instances = reader.integer(at: "limits.instances", 0...1_000_000) ?? instances
    check(reader)
  }

  /// Reads the totals. A default grows with the share of one user, so that raising that needs no second setting.
  private mutating func readTotals(_ reader: ValueReader) {
    totalBufferedBytes =
      Self.buffers(reader, "limits.total_buffered_bytes") ?? max(totalBufferedBytes, bufferedBytesPerUid)
    totalMessagesPerSecond =
      reader.integer(at: "limits.total_messages_per_second", 100...10_000_000)
      ?? max(totalMessagesPerSecond, AllowanceLimits(callsPerSecond: callsPerSecond).messagesPerSecond)
    totalSubscriptions =
      reader.integer(at: "limits.total_subscriptions", 0...1_000_000) ?? max(totalSubscriptions, subscriptionsPerUid)
  }

  private static func buffers(_ reader: ValueReader, _ key: String) -> ByteCount? {
    reader.value(ByteCount.self, at: key) {
      $0 >= .kibibytes(1024) && $0.bytes <= 16 << 30 ? nil : "This must be from 1MiB to 16GiB."
    }
  }

  /// Adds a mistake if a share exceeds the whole.
  private func check(_ reader: ValueReader) {
    func check(_ part: (key: String, value: Int), _ whole: (key: String, value: Int)) {
      guard part.value > whole.value else { return }
      reader.log.add(
        reader.key(for: "limits.\(part.key)", or: "limits.\(whole.key)"),
        "\(whole.key) must be at least \(part.key): it counts those too.")
    }
    check(("max_in_flight", maxInFlight), ("max_in_flight_per_uid", maxInFlightPerUid))
    check(("subscriptions", subscriptions), ("subscriptions_per_uid", subscriptionsPerUid))
    check(("connections", connections), ("total_connections", totalConnections))
    check(("subscriptions_per_uid", subscriptionsPerUid), ("total_subscriptions", totalSubscriptions))
    check(
      ("buffered_bytes_per_uid", bufferedBytesPerUid.bytes), ("total_buffered_bytes", totalBufferedBytes.bytes))
  }
}
