import JSONRPC
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The text form in which JSON is sealed.
enum StoredJSON {
  /// Returns the text of a value. Throws `storeUnavailable` if the value nests too deep to be read back.
  static func data(of json: JSON) throws(SDKError) -> Data {
    guard fits(json, depth: JSONParser.maximumDepth) else {
      throw .storeUnavailable("A value nests deeper than \(JSONParser.maximumDepth) and can't be stored; flatten it.")
    }
    return Data(JSONWriter.bytes(of: json))
  }

  /// Returns the value of a text that `data(of:)` made.
  ///
  /// Combining marks have no limit: earlier releases stored longer runs of them than a message may contain now.
  static func json(of data: Data) -> JSON? { try? JSONParser.parse(data, maximumMarks: .max) }

  private static func fits(_ json: JSON, depth: Int) -> Bool {
    switch json {
    case .array(let elements): depth > 0 && elements.allSatisfy { fits($0, depth: depth - 1) }
    case .object(let object): depth > 0 && object.members.allSatisfy { fits($0.value, depth: depth - 1) }
    default: true
    }
  }
}
