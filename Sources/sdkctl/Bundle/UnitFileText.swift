/// The text of unit files and drop-ins, as `systemctl cat` prints it, without what can hold a secret.
///
/// Unit files are readable by every user, and yet people write secrets into `Environment=`, `SetCredential=` and
/// command lines.
enum UnitFileText {
  private static let mark = "‹masked›"
  /// Parts of the names of settings whose value is masked, apart from those that begin with `Exec` and `X-`.
  private static let secrets = ["Environment", "SetCredential", "StandardInput"]
  /// The ends of the names of unit files and drop-ins.
  private static let endings = [".service", ".socket", ".conf"]

  /// Returns the paths of the files, their sections and settings. Comments are left out.
  static func masked(_ text: String) -> String {
    var lines: [String] = []
    // Whether this line continues the former one, and whether such a line is shown.
    var (continues, isShown) = (false, true)
    // systemd ends a line at a carriage return, too.
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map({
      $0.drop { $0 == " " || $0 == "\t" }
    }) {
      let isComment = line.hasPrefix("#") || line.hasPrefix(";")
      if isComment {
        // systemctl prints the path of each file as a comment.
        let isPath = line.hasPrefix("# /") && !line.dropFirst(2).contains(" ")
        if isPath, !continues, endings.contains(where: { line.hasSuffix($0) }) { lines.append(String(line)) }
        continue
      }
      if continues {
        if isShown { lines.append(String(line)) }
      } else {
        let (shown, isWhole) = setting(line)
        isShown = isWhole
        lines.append(shown)
      }
      continues = line.hasSuffix("\\")
    }
    return lines.joined(separator: "\n")
  }

  /// Returns a line that begins a setting, and whether all of it is shown.
  private static func setting(_ line: Substring) -> (line: String, isWhole: Bool) {
    if line.isEmpty || line.hasPrefix("[") && line.hasSuffix("]") { return (String(line), true) }
    guard let equals = line.firstIndex(of: "="), line[..<equals].allSatisfy({ $0.isASCII && $0.isLetter }) else {
      return (mark, false)
    }
    let (name, value) = (line[..<equals], line[line.index(after: equals)...])
    if name.hasPrefix("Exec") {
      let words = value.split { $0 == " " || $0 == "\t" }
      let program = words.first?.split(separator: "/").last ?? ""
      if program == "sdkd" || program == "sdkctl" && words.count > 1 && words[1] == "reload" {
        return (String(line), true)
      }
      // The wrapper of providers is followed by the provider's own program.
      let shown = words.prefix(program == "sdkd-provider" ? 2 : 1).joined(separator: " ")
      return words.count < 2 ? (String(line), false) : ("\(name)=\(shown) \(mark)", false)
    }
    return secrets.contains { name.contains($0) } && !value.isEmpty ? ("\(name)=\(mark)", false) : (String(line), true)
  }
}
