import JSONRPC
import SDKProtocol

/// The input of a verb for instances of a kind, with the contract's tested example.
struct KindInput {
  let kind: String
  /// What the input is.
  let meaning: String
  /// The service of the example, for kinds that have several.
  var service: String?
  let example: JSON

  /// The paragraph of a verb's help that lists these inputs.
  static func paragraph(_ inputs: [KindInput]) -> String {
    let entries = inputs.map { input in
      let option = input.service.map { ", with --service \($0)" } ?? ""
      return "  \(input.kind)\(option): \(input.meaning)\n" + input.lines.map { "    \($0)" }.joined(separator: "\n")
    }
    return (["What each kind reads, with an example:"] + entries).joined(separator: "\n")
  }

  private var lines: [String] {
    guard case .string(let text) = example else {
      return OpenRPCDocument.text(of: example).split(separator: "\n").map(String.init)
    }
    return [text]
  }
}
