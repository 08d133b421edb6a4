import Foundation
import JSONRPC
import Testing

/// The contract as a generator of models reads it.
@Suite struct CounterpartModelsTests {
  private static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Packaging/openrpc.json")
  private static let package = "datamodel-code-generator"

  @Test("datamodel-code-generator makes models of the contract that read the daemon's answers")
  func models() throws {
    let packages = URL(
      fileURLWithPath: try Counterpart.pythonPackage(
        "models/datamodel_code_generator/__init__.py", package: Self.package)
    ).deletingLastPathComponent().deletingLastPathComponent().path
    let desk = try Desk()
    let calls = try ContractExamples.run(try JSONParser.parse(Data(contentsOf: Self.document)))
    let record = calls.map { JSONWriter.text(of: [.string($0.method), $0.result]) + "\n" }.joined()
    let run = { (record: String) in
      try Counterpart.run(
        "/usr/bin/python3",
        [
          Counterpart.script("models"), Self.document.path, try desk.write("record", record).path, desk.folder.path,
        ], in: desk, environment: ["PYTHONPATH": packages])
    }
    let good = try run(record)
    #expect(good.status == 0, "\(good.output)")
    // The models refuse what the contract does not have.
    let bad = try run(
      #"["instance.currentUser",{"authenticationType":"guess","authenticated":true,"verified":true}]"# + "\n")
    #expect(bad.status == 1 && bad.output.contains("authenticationType"), "\(bad.output)")
  }
}
