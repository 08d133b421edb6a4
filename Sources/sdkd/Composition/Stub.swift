import DelegateBridge
import JSONRPCTransport
import Logging
import SDKInstances
import SDKProtocol
import StateStore
struct Configuration {
  struct Limits { var instances = 20; var connections = 128; var published: [String: Double] { [:] } }
  var logLevel = Logger.Level.info
  var limits = Limits()
  var retention = EventRetention()
  var bridge: BridgeOptions { BridgeOptions() }
  var transport: TransportLimits { TransportLimits() }
  var grace = 10.0
  func access(ownUid: UInt32?) -> AccessPolicy { AccessPolicy(ownUid: ownUid) }
}
struct InstanceFile { var file: String; var id: InstanceID; var definition: Definition }
enum ConfigurationLoader {
  struct Loaded { var configuration = Configuration(); var instances: [InstanceFile] = []; var mistakes: [String] = []; var problems: [DaemonHealth.Check] { [] }; var failure: SDKError? { nil } }
  static func load(path: String, kinds: [any SDKKind]) -> Loaded { Loaded() }
}
