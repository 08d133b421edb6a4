/// The limits of the sandbox, so that a runaway test can't exhaust the machine.
enum SandboxLimits {
  /// The maximum size of a request's body, in bytes. A larger one is refused with 413.
  static let body = 1 << 20
  /// The maximum bytes of a refused body that are still read, so that the client receives the 413.
  static let drain = 16 << 20
  /// The maximum number of requests in a namespace's log. The oldest are removed first.
  static let log = 10_000
  /// The maximum bytes of bodies in a namespace's log. The oldest requests are removed first.
  static let logBytes = 64 << 20
  /// The maximum number of namespaces that requests to `/ns/{name}` create.
  static let namespaces = 1_000
  /// The maximum number of pending scripts in a namespace.
  static let scripts = 1_000
  /// The maximum number of hanging or delayed requests in a namespace. A further one is dropped.
  static let waiting = 1_000
  /// The longest delay and the longest wait, in milliseconds.
  static let delay = 600_000
  /// The maximum number of open WebSockets in a namespace. A further one is refused with 503.
  static let sockets = 1_000
  /// The maximum number of unsent frames on one WebSocket. A further one cuts the connection.
  static let socketBacklog = 1_000
  /// The longest text message on a WebSocket, in bytes. A longer one closes the socket with 1009.
  static let message = 1 << 20
  /// The maximum number of users in a backend of a namespace. It also bounds the backend's clients or devices.
  static let users = 10_000
  /// The maximum number of tokens of a backend in a namespace. The oldest are removed first.
  static let tokens = 20_000
  /// The maximum number of entries in a backend's record of events. The oldest are removed first.
  static let record = 1_000
  /// The maximum number of tokens remembered for each user so that `/_revoke` recognizes them.
  static let tokensPerUser = 100
}

/// A bounded store of values by key. A value beyond the bound replaces the oldest.
struct BoundedStore<Value: Sendable>: Sendable {
  private(set) var values: [String: Value] = [:]
  private var order: [String] = []
  private let most: Int

  init(most: Int) {
    self.most = most
  }

  subscript(key: String) -> Value? {
    get { values[key] }
    set {
      if let newValue {
        if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
        if order.count > most { values.removeValue(forKey: order.removeFirst()) }
      } else if values.removeValue(forKey: key) != nil {
        order.removeAll { $0 == key }
      }
    }
  }

  /// Applies a change to each value.
  mutating func change(_ change: (inout Value) -> Void) {
    for key in order {
      guard var value = values[key] else { continue }
      change(&value)
      values[key] = value
    }
  }

  /// The keys and values, oldest first.
  var entries: [(key: String, value: Value)] {
    order.compactMap { key in values[key].map { (key, $0) } }
  }
}
