import JSONRPC
import Testing

/// A fault of a machine, what `sdkctl doctor` says about it, and how it is mended.
struct Situation: CustomTestStringConvertible {
  /// The fault, in words.
  let name: String
  /// The script that makes the fault.
  let fault: String
  /// The name of the check that finds it.
  let check: String
  /// The outcome of the check.
  var status = "failing"
  /// A part of the message, which names the cause.
  let says: String
  /// The whole advice.
  let advice: String
  /// The script for what the advice leaves to a person, such as to correct a file. The advice's commands are typed after it.
  var byHand = ":"
  /// The words before `sdkctl`, such as those that change the user.
  var caller = ""

  var testDescription: String { name }

  private static let programs: Set = [
    "chmod", "chown", "df", "dmesg", "du", "journalctl", "mount", "rm", "sdkctl", "systemctl",
  ]

  /// The commands in an advice, in their order. An advice is a list of commands with words between them.
  static func commands(in advice: String) -> [String] {
    advice.replacing(", then ", with: ";").split(separator: ";").compactMap { part in
      var text = part.trimmingPrefix(while: \.isWhitespace)
      if let colon = text.firstRange(of: ": ") { text = text[colon.upperBound...] }
      text = text.trimmingPrefix("then ")
      if let words = text.firstRange(of: " shows ") { text = text[..<words.lowerBound] }
      // With … it is an example.
      guard let program = text.split(separator: " ").first, programs.contains(String(program)), !text.contains("…")
      else { return nil }
      return String(text)
    }
  }

  /// Makes the fault, looks for it with `sdkctl doctor`, types the advice, and looks again.
  func test(on machine: Machine) async throws {
    try await machine.sh(fault)
    var looked = try await look(on: machine)
    // The daemon needs some seconds to find some faults.
    let end = ContinuousClock.now + .seconds(60)
    while looked.finding == nil, ContinuousClock.now < end { looked = try await look(on: machine) }
    let finding = try #require(looked.finding, "\(name): \(looked.all)")
    #expect(finding["status"]?.stringValue == status, "\(name): \(finding)")
    #expect(finding["advice"]?.stringValue == advice, "\(name): \(finding)")
    try await machine.sh(byHand)
    for command in Self.commands(in: finding["advice"]?.stringValue ?? "") {
      // As at a prompt, where a variable may be unset and only the last program of a pipe counts.
      let ended = try await machine.run(["bash", "-c", command])
      #expect(ended.status == 0, "\(name): \(command): \(ended)")
    }
    looked = try await look(on: machine)
    while looked.finding != nil, ContinuousClock.now < end + .seconds(60) { looked = try await look(on: machine) }
    #expect(looked.finding == nil, "\(name): \(looked.all)")
    try await machine.eventually("\(name): the daemon serves calls again", within: 60, "sdkctl list")
  }

  /// Returns the finding of the fault, and all that the doctor prints.
  private func look(on machine: Machine) async throws -> (finding: JSON?, all: String) {
    let text = try await machine.run(["bash", "-c", "\(caller) sdkctl --system doctor -o json"]).output
    let finding = try JSONParser.parse(text).arrayValue?.first {
      $0["check"]?.stringValue == check && $0["status"] != "ok" && $0["message"]?.stringValue?.contains(says) == true
    }
    return (finding, text)
  }
}
