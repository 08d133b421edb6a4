import Logging
import SDKProtocol

extension Effect {
  /// Writes the journal line of a log effect. Does nothing for other effects.
  func log(to logger: Logger, of service: String?) {
    switch self {
    case .log(let notice, let tokenId):
      var metadata = Logger.Metadata(notice.type)
      if let service { metadata["service"] = "\(service)" }
      if let reason = notice.failure?.reason { metadata["reason"] = "\(reason)" }
      if let tokenId { metadata["tokenId"] = "\(tokenId)" }
      logger.log(level: notice.failure == nil ? .info : .warning, "\(notice.sentence)", metadata: metadata)
    case .logConnection(let error, isRefused: true):
      logger.warning(
        "The vendor refuses the realtime connection again: \(error.message)", metadata: ["reason": "\(error.reason)"])
    case .logConnection(let error, isRefused: false):
      logger.debug("The realtime connection ended: \(error.message)")
    case .logAbandoned(let delivery, let error):
      logger.warning(
        "The vendor could not be told (\(delivery.purpose)); this is given up: \(error.message)",
        metadata: ["reason": "\(error.reason)"])
    case .logDropped(let deliveries):
      for delivery in deliveries {
        logger.warning(
          "The vendor is not told any more (\(delivery.purpose)): newer deliveries have taken the last of the room.")
      }
    default: break
    }
  }
}

extension Logger.Metadata {
  /// Creates the metadata of a line about an event.
  init(_ type: EventType) {
    self = ["event": "\(type.rawValue)"]
    if let message = JournalMessage(type) { self["messageID"] = "\(message.id)" }
  }
}
