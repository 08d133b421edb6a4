// swift-tools-version: 6.2
import PackageDescription

/// Whether to build the fuzzer and nothing else: set by `Tests/Fuzz/run`.
let fuzzing = Context.environment["SDKD_FUZZ"] != nil

/// The modules whose tests are built, and no others: set by `Tests/Sanitizers/run`.
let tested = Context.environment["SDKD_TESTED"]?.split(separator: " ").map(String.init)

/// The name of ICU's data, which the programs then link without any locale: set by `Packaging/build-release`.
let icuData = Context.environment["SDKD_ICU_DATA"]
let withoutLocales: [Target.Dependency] = icuData == nil ? [] : ["CNoLocales"]

let settings: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ] + (fuzzing ? [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])] : [])

extension Target.Dependency {
  static let nioCore = product(name: "NIOCore", package: "swift-nio")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
  static let nioTestUtils = product(name: "NIOTestUtils", package: "swift-nio")
  static let logging = product(name: "Logging", package: "swift-log")
  static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
  static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
  static let arguments = product(name: "ArgumentParser", package: "swift-argument-parser")
  static let deque = product(name: "DequeModule", package: "swift-collections")
  static let heap = product(name: "HeapModule", package: "swift-collections")
  static let httpClient = product(name: "AsyncHTTPClient", package: "async-http-client")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let nioWebSocket = product(name: "NIOWebSocket", package: "swift-nio")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
  static let coreMetrics = product(name: "CoreMetrics", package: "swift-metrics")
  static let subprocess = product(name: "Subprocess", package: "swift-subprocess")
  static let system = product(name: "SystemPackage", package: "swift-system")
  static let flyingFox = product(name: "FlyingFox", package: "FlyingFox")
}

/// A module and, where it has one, its test target of the same name.
///
/// - Parameter fuzzed: the files that are fuzzed; `nil` for all. The others are not compiled for the fuzzer.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], executable: Bool = false,
  tests: [Target.Dependency]? = nil, resources: [Resource] = [], fuzzed: [String]? = nil
) -> [Target] {
  // The fuzzer links the programs as libraries, so their entry points must not be called `main`.
  let entry = ["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "\(name)_main"]
  let target: Target =
    executable && !fuzzing
    ? .executableTarget(
      name: name, dependencies: dependencies + ["CStandardStreams"] + withoutLocales, exclude: ["README.md"],
      swiftSettings: settings)
    : .target(
      name: name, dependencies: dependencies, exclude: ["README.md"], sources: fuzzing ? fuzzed : nil,
      swiftSettings: settings + (executable ? [.unsafeFlags(entry)] : []))
  guard let tests, !fuzzing, tested?.contains(name) != false else { return [target] }
  return [
    target,
    .testTarget(
      name: "\(name)Tests", dependencies: [.byName(name: name), "Randomness", "Waiting"] + tests, path: "Tests/\(name)",
      resources: resources, swiftSettings: settings),
  ]
}

let products: [Product] = [
  .executable(name: "sdkd", targets: ["sdkd"]),
  .executable(name: "sdkctl", targets: ["sdkctl"]),
  .executable(name: "sdkd-provider", targets: ["sdkd-provider"]),
  .executable(name: "sdk-sandbox", targets: ["sdk-sandbox"]),
  .library(name: "SDKClient", targets: ["SDKClient"]),
  .library(name: "SDKClientTesting", targets: ["SDKClientTesting"]),
]

/// The tests against the programs, and what fuzzes.
let checks: [Target] =
  fuzzing
  ? [
    .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CFuzzer", "JSONRPC", "JSONRPCTransport", "SDKProtocol", "ProviderUnit", "DelegateBridge", "StateStore",
        "JWTRules", "SDKInstances", "SDKKinds", "Systemd", "Linux", "Cryptography", "SQLite", "sdkd", "sdkctl",
        .httpClient,
        .nioCore, .nioEmbedded, .nioHTTP1, .nioPosix, .nioWebSocket,
      ] + withoutLocales, path: "Tests/Fuzz/Sources", swiftSettings: settings,
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
  ]
  : [
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "CLinux", "JSONRPC", "Linux", "OpenMetrics", "SandboxServer", "sdkd", "sdkctl", "sdkd-provider", "sdk-sandbox",
      ],
      path: "Tests/Integration", exclude: ["Counterparts/Programs", "Fixtures", "Guides", "Support/typist.py"],
      swiftSettings: settings),
    .executableTarget(
      name: "client-driver", dependencies: ["Concurrency", "JSONRPC", "JSONRPCTransport", "SDKClient"],
      path: "Tests/Clients/Drivers/Swift", swiftSettings: settings),
    .executableTarget(
      name: "fleet-simulation",
      dependencies: ["Randomness", "SDKInstances", "DelegateBridge", "SDKProtocol", .heap, .arguments],
      path: "Tests/Benchmarks/FleetSimulation", exclude: ["README.md"], swiftSettings: settings),
    .testTarget(
      name: "fleet-simulationTests", dependencies: ["fleet-simulation"], path: "Tests/fleet-simulation",
      swiftSettings: settings),
    .executableTarget(
      name: "nio-echo", dependencies: [.nioCore, .nioPosix], path: "Tests/Benchmarks/NIOEcho", swiftSettings: settings),
    .testTarget(
      name: "SystemTests", dependencies: ["JSONRPC", "sdkd", "sdkctl", "sdkd-provider", .subprocess, .system],
      path: "Tests/System", swiftSettings: settings),
  ]

/// What several test targets use: a store in memory, random numbers that repeat, and waiting.
let shared: [Target] =
  fuzzing
  ? []
  : [
    .target(
      name: "Doubles", dependencies: ["JSONRPC", "SDKProtocol", "StateStore", "Cryptography"],
      path: "Tests/Shared/Doubles",
      swiftSettings: settings),
    .target(name: "Randomness", path: "Tests/Shared/Randomness", swiftSettings: settings),
    .target(name: "Waiting", path: "Tests/Shared/Waiting", swiftSettings: settings),
  ]

let package = Package(
  name: "sdkd",
  products: fuzzing ? [] : products,
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-system.git", from: "1.8.0"),
    .package(url: "https://github.com/swhitty/FlyingFox.git", from: "0.27.0"),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess.git", from: "1.0.2", traits: []),
  ],
  targets: [
    .systemLibrary(
      name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CLinux", exclude: ["README.md"]),
    .target(name: "CStandardStreams", exclude: ["README.md"]),
    .target(
      name: "CNoLocales", exclude: ["README.md"], cSettings: [.define("ICU_DATA", to: icuData ?? "sdkd_no_locales")]),
  ]
    + module("Linux", ["CLinux"], tests: ["CLinux", "Concurrency"])
    + module("Concurrency", ["Linux", .deque], tests: ["Linux"])
    + module("Systemd", ["CSystemd", "CLinux", "Linux", .logging, .deque], tests: ["CLinux", "Linux", .logging])
    + module("JSONRPC", [], tests: [])
    + module("Digests", [], tests: [])
    + module("Cryptography", [.nioSSL], tests: [])
    + module("SQLite", ["CSQLite"], tests: [])
    + module("OpenMetrics", [.coreMetrics], tests: [.coreMetrics])
    + module(
      "JSONRPCTransport", ["JSONRPC", "CLinux", "Linux", .nioCore, .nioPosix, .deque],
      tests: ["JSONRPC", "CLinux", "Linux", .nioCore, .nioPosix, .nioEmbedded, .nioTestUtils])
    + module("SDKProtocol", ["JSONRPC", "Digests"], tests: ["JSONRPC"])
    + module("JWTRules", ["JSONRPC", "SDKProtocol"], tests: ["JSONRPC", "SDKProtocol"])
    + module(
      "SDKClient", ["Concurrency", "JSONRPC", "JSONRPCTransport", "SDKProtocol"],
      tests: [
        "JSONRPC", "JSONRPCTransport", "SDKProtocol", "SDKClientTesting", "sdkd", "sdk-sandbox", .nioPosix,
      ])
    + module(
      "SDKClientTesting", ["Concurrency", "JSONRPC", "JSONRPCTransport", "SDKProtocol", "SDKClient"],
      tests: ["JSONRPC"])
    + module(
      "StateStore", ["JSONRPC", "SDKProtocol", "Cryptography", "CLinux", "Linux", "SQLite", .logging],
      tests: ["Doubles", "Linux", "JSONRPC", "SDKProtocol", "Cryptography", "CSQLite", "SQLite", .logging])
    + module("ProviderUnit", ["JSONRPC"], tests: ["JSONRPC"])
    + module("sdkd-provider", ["JSONRPC", "ProviderUnit", "CLinux", "Linux"], executable: true)
    + module(
      "DelegateBridge",
      [
        "Concurrency", "JSONRPC", "SDKProtocol", "ProviderUnit", "CLinux", "Linux", .subprocess, .system, .logging,
        .deque,
      ],
      tests: ["JSONRPC", "SDKProtocol", .logging])
    + module(
      "SDKInstances",
      ["Concurrency", "JSONRPC", "SDKProtocol", "StateStore", "DelegateBridge", .logging, .heap, .deque],
      tests: ["Doubles", "Concurrency", "JSONRPC", "SDKProtocol", "StateStore", "DelegateBridge", .logging])
    + module(
      "SDKKinds",
      [
        "Concurrency", "Linux", "JSONRPC", "SDKProtocol", "JWTRules", "SDKInstances", "StateStore", "DelegateBridge",
        "Cryptography", .httpClient, .deque, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .nioWebSocket,
      ],
      tests: [
        "Concurrency", "JSONRPC", "SDKProtocol", "SDKInstances", "DelegateBridge", .nioCore, .nioEmbedded, .nioHTTP1,
        .nioPosix, .nioSSL, .nioWebSocket,
      ])
    + module(
      "SandboxServer", ["JSONRPC", "Cryptography", "Digests", .flyingFox],
      tests: ["JSONRPC", "Cryptography", .flyingFox])
    + module("sdk-sandbox", ["SandboxServer", .arguments], executable: true)
    + module(
      "sdkd",
      [
        "Concurrency", "JSONRPC", "JSONRPCTransport", "SDKProtocol", "SDKInstances", "SDKKinds", "StateStore",
        "DelegateBridge", "Systemd", "CLinux", "Linux", "OpenMetrics", .coreMetrics, .lifecycle, .unixSignals,
        .arguments, .logging, .nioCore, .nioHTTP1, .nioPosix,
      ], executable: true,
      tests: [
        "JSONRPC", "SDKProtocol", "SDKInstances", "SDKKinds", "Systemd", "OpenMetrics", "DelegateBridge", "Linux",
      ])
    + module(
      "sdkctl",
      [
        "Concurrency", "Digests", "Linux", "JSONRPC", "JSONRPCTransport", "SDKProtocol", "SDKClient", "JWTRules",
        "OpenMetrics", .arguments,
      ],
      executable: true,
      tests: [
        "Concurrency", "Linux", "JSONRPC", "JSONRPCTransport", "SDKProtocol", "SDKClient", "SDKClientTesting",
        "JWTRules", "OpenMetrics", .arguments,
      ],
      fuzzed: ["Audit/AuditEntry.swift", "Audit/LogLine.swift", "Text/TerminalText.swift"])
    + shared + (tested == nil ? checks : []),
  swiftLanguageModes: [.v6]
)
