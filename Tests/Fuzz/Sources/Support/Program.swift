import CFuzzer
import Foundation

/// Fuzzes the target that the environment variable `FUZZ_TARGET` names, with libFuzzer's own arguments.
///
/// `fuzz --list` lists the targets. See `Packaging/documentation/testing.md`.
@main enum Program {
  private nonisolated(unsafe) static var target = FuzzTarget.all[0]

  static func main() {
    if CommandLine.arguments.contains("--list") {
      for target in FuzzTarget.all { print(target.name) }
      return
    }
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let chosen = FuzzTarget.all.first(where: { $0.name == name }) else {
      FileHandle.standardError.write(Data("There is no fuzz target \"\(name)\"; fuzz --list lists them.\n".utf8))
      exit(64)
    }
    target = chosen
    CostLimit.calibrate()
    // Later arguments replace earlier ones of the same name.
    let given = CommandLine.arguments
    var arguments: [UnsafeMutablePointer<CChar>?] = (given.prefix(1) + chosen.limits + given.dropFirst()).map {
      strdup($0)
    }
    var count = CInt(arguments.count)
    arguments.append(nil)
    let status = arguments.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return LLVMFuzzerRunDriver(&count, &start) { data, count in
        Program.target.check(Input(Array(UnsafeBufferPointer(start: data, count: count))))
        return 0
      }
    }
    exit(status)
  }
}
