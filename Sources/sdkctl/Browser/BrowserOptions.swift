import ArgumentParser

extension BrowserFiles.Browser: ExpressibleByArgument {}

/// The options of `sdkctl browser check` and `write`.
struct BrowserOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The list of what pages may use.", valueName: "path"), completion: .file())
  var manifest = BrowserManifest.standardPath

  @Option(help: "A browser, if not both chromium and firefox. Can be repeated.")
  var browser: [BrowserFiles.Browser] = []

  @Option(help: ArgumentHelp("The directory below which the files are, such as that of an image.", valueName: "path"))
  var root = ""

  @Option(
    help: ArgumentHelp("The extension's id in Chromium, if you have packed it with a key of your own.", valueName: "id")
  )
  var extensionID = BrowserFiles.standardID

  @Option(
    help: ArgumentHelp("Where Chromium gets the packed extension, which it then installs by force.", valueName: "url"))
  var updateURL: String?

  @Option(help: ArgumentHelp("The program that browsers start.", valueName: "path"), completion: .file())
  var hostProgram = BrowserFiles.standardHost

  func validate() throws {
    let letters = "abcdefghijklmnop".utf8
    guard extensionID.utf8.count == 32, extensionID.utf8.allSatisfy(letters.contains) else {
      throw ValidationError("An extension's id has 32 letters from a to p, not \(extensionID.debugDescription).")
    }
    guard hostProgram.hasPrefix("/") else { throw ValidationError("Browsers start the host by an absolute path.") }
  }

  /// Returns the files of the chosen browsers.
  func files(_ origins: [String]) -> [BrowserFiles.File] {
    (browser.isEmpty ? [.chromium, .firefox] : browser).flatMap { browser in
      BrowserFiles(
        browser: browser, origins: origins, extensionID: extensionID, updateURL: updateURL, host: hostProgram
      ).files
    }
  }

  /// Returns the path of a file below `--root`.
  func path(_ file: BrowserFiles.File) -> String { root + file.path }
}
