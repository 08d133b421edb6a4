import DelegateBridge
import JSONRPC
import Logging
import SDKProtocol

extension Configuration {
  /// The shape of `sdkd.toml` and of each drop-in.
  static let schema = JSONSchema.object(tables.map { .optional($0.name, $0.schema, $0.summary) })

  /// The tables of `sdkd.toml`.
  static let tables: [ConfigurationTable] = [
    ConfigurationTable(
      name: "access", summary: "Who is admin, and who may create instances.",
      keys: [
        .key("admins", .array(AccessRule.jsonSchema), default: "[]", "Who is admin besides root."),
        .key(
          "create", .array(createRule), example: "who = \"group:support\"\nprefix = \"support-\"\nmax = 20",
          "Lets others create instances whose ids begin with a prefix, so many for each user."),
      ]),
    ConfigurationTable(
      name: "bridge", summary: "Token providers: the programs that are asked for credentials.",
      keys: [
        .key(
          "allow", .array(.string(pattern: "^/", called: "absolute path")), example: "[\"/usr/libexec/sdkd\"]",
          "Providers must be in one of these directories; without this, in any."),
        .key(
          "same_uid", .boolean, default: "false",
          "Whether a provider may run as a child of a system daemon. It then has the same uid and can read all state."),
        .key(
          "unit_sockets", .string(pattern: "^/", called: "absolute path"), example: "\"/run/front-desk-providers\"",
          """
          The folder with a socket NAME.sock for each provider with unit = \"NAME\"; without this \
          \(BridgeOptions.standardUnitSockets), and a folder below it for each tenant.
          """),
        .key("max_concurrent", .integer(minimum: 1, maximum: 4096), default: "32", "Providers that run at a time."),
        .key(
          "max_running", .integer(minimum: 1, maximum: 65_536), default: "256",
          "Providers in all; max_concurrent does not count those that take longer than 2 s."),
      ]),
    ConfigurationTable(
      name: "delegate", summary: "Delegates: connections that are asked for credentials before the providers.",
      keys: [
        .key(
          "grace", Seconds.jsonSchema, default: "\"30s\"",
          "How long to wait for a delegate that was lost to come back, where no provider is configured.")
      ]),
    ConfigurationTable(name: "limits", summary: "What callers other than admins may use.", keys: limitKeys),
    ConfigurationTable(
      name: "events", summary: "The record of what happened.",
      keys: [
        .key(
          "retention", retentionSchema, isMerged: true, default: "{ age = \"7d\", count = 1000 }",
          "How long events are kept, and how many of each instance.")
      ]),
    ConfigurationTable(
      name: "network", summary: "Where instances may connect to.",
      keys: [
        .key(
          "allow", .array(.string(called: "host name or domain")), example: "[\"zendesk.com\", \"chat.example.org\"]",
          "Hosts, and domains with all below them; without this, the vendors' own domains."),
        .key(
          "proxy", .string(called: "none, environment or http://HOST:PORT"), default: "\"none\"",
          "The HTTP proxy to the vendors. With environment it is what https_proxy, all_proxy and no_proxy name."),
        .key(
          "proxy_credentials", proxyCredentials, example: "{ credential = \"proxy\" }",
          "Where USER:PASSWORD for the proxy is: a credential of the unit, or { file = \"/PATH\" }."),
        .key(
          "proxy_exceptions", .array(.string(called: "host name, domain or range of addresses")),
          example: "[\"intranet.example.org\", \"10.0.0.0/8\"]",
          "Hosts, and domains with all below them, that are reached without a proxy."),
        .key(
          "ca_file", .string(called: "absolute path"), example: "\"/etc/sdkd/authorities.pem\"",
          "Certificates to trust instead of the system's."),
      ]),
    ConfigurationTable(
      name: "metrics", summary: "Metrics for Prometheus and others that scrape.",
      keys: [
        .key(
          "listen", .string(called: "HOST:PORT or the path of a socket"), example: "\"127.0.0.1:9464\"",
          "Where they are served; without this, nowhere but through the control socket.")
      ]),
    ConfigurationTable(
      name: "shutdown", summary: "The end of the daemon.",
      keys: [.key("grace", Seconds.jsonSchema, default: "\"10s\"", "Time that requests in progress get.")]),
    ConfigurationTable(
      name: "backup", summary: "Backups of the state.",
      keys: [
        .key("every", Seconds.jsonSchema, default: "\"1d\"", "Time between two backups; 0 makes none."),
        .key("keep", .integer(minimum: 1, maximum: 1000), default: "3", "How many are kept."),
      ]),
    ConfigurationTable(
      name: "log", summary: "What goes to the journal.",
      keys: [
        .key(
          "level", .enumeration(Logger.Level.allCases.map(\.rawValue)), default: "\"info\"",
          "The least severe messages that are written: trace, debug, info, notice, warning, error, critical.")
      ]),
  ]

  private static let proxyCredentials = JSONSchema.object([
    .optional("credential", .string(), "the name of a credential of the unit"),
    .optional("file", .string(called: "absolute path"), "a file that others can't read"),
  ])

  private static let createRule = JSONSchema.object([
    .required("who", AccessRule.jsonSchema, "whom the rule lets"),
    .required("prefix", .string(), "with what the ids must begin"),
    .required("max", .integer(minimum: 1), "how many instances each user may have"),
  ])

  private static let retentionSchema = JSONSchema.object([
    .optional("age", Seconds.jsonSchema, "how long an event is kept"),
    .optional("count", .integer(minimum: 0, maximum: 1_000_000), "how many events of one instance are kept"),
  ])

  private static let limitKeys: [ConfigurationTable.Key] = [
    .key("max_frame_bytes", ByteCount.jsonSchema, default: "\"1MiB\"", "The longest message."),
    .key("frame_timeout", Seconds.jsonSchema, default: "\"10s\"", "How long a message may stay unfinished."),
    .key(
      "max_in_flight", .integer(minimum: 1, maximum: 65_536), default: "64",
      "Requests of one connection that run at once."),
    .key(
      "max_in_flight_per_uid", .integer(minimum: 1, maximum: 1_000_000), default: "1024",
      "Requests of all connections of one user that run or wait. A user is a uid with its subordinate uids (subuid(5))."
    ),
    .key("max_outbound_bytes", ByteCount.jsonSchema, default: "\"4MiB\"", "What a client may leave unread."),
    .key("write_timeout", Seconds.jsonSchema, default: "\"30s\"", "How long it may then go on without reading."),
    .key(
      "buffered_bytes_per_uid", ByteCount.jsonSchema, default: "\"32MiB\"",
      "What all connections of one user may have unfinished, waiting and unread; above that each connection may have 64 KiB."
    ),
    .key(
      "total_buffered_bytes", ByteCount.jsonSchema, default: "\"256MiB\"",
      """
      The same of all users together. Callers without a role on any instance have a quarter of it, as of every total.
      """),
    .key("connections", .integer(minimum: 1, maximum: 65_536), default: "128", "Connections of one user."),
    .key(
      "total_connections", .integer(minimum: 1, maximum: 65_536), default: "2048",
      "Connections of all users together, at most a quarter of the descriptors of the daemon: each takes two."),
    .key("subscriptions", .integer(minimum: 0, maximum: 65_536), default: "16", "Subscriptions of one connection."),
    .key(
      "subscriptions_per_uid", .integer(minimum: 0, maximum: 1_000_000), default: "256",
      "Subscriptions of all connections of one user."),
    .key(
      "total_subscriptions", .integer(minimum: 0, maximum: 1_000_000), default: "4096",
      "Subscriptions of all users together."),
    .key(
      "calls_per_second", .integer(minimum: 1, maximum: 1_000_000), default: "500",
      "Calls of one user in a second; after a rest twice as many at once."),
    .key(
      "total_messages_per_second", .integer(minimum: 100, maximum: 10_000_000), default: "16000",
      "Messages of all users in a second, refused ones included. Above that, users over their fair share are read slowly."
    ),
    .key("instances", .integer(minimum: 0, maximum: 1_000_000), default: "20", "Instances that one user may have."),
  ]
}
