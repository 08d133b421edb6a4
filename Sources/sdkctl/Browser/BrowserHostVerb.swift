import ArgumentParser
import Glibc
import JSONRPC
import Linux
import SDKClient

/// `sdkctl browser host`: joins a page to the daemon, by native messaging. Browsers start it, once for each connection.
struct BrowserHostVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "host", abstract: "Join a page to the daemon; browsers start it.",
    discussion: """
      It speaks native messaging on standard input and output. The first message comes from the extension and gives \
      the page's origin. What the pages of this origin may use is in /etc/sdkd/browser.json. It ends with its \
      browser, and with the daemon; the library in the page then connects again.
      """,
    examples: ["exec sdkctl browser host -- \"$@\""])

  @Option(help: ArgumentHelp("The list of what pages may use.", valueName: "path"), completion: .file())
  var manifest = BrowserManifest.standardPath

  @Argument(help: "What the browser says of its extension; not used.")
  var caller: [String] = []

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  /// The time for the extension to send the origin.
  private static let patience = Duration.seconds(10)
  /// The time to connect while the daemon's backlog is full.
  private static let connectTime = Duration.milliseconds(500)

  func run(in context: CommandContext) async throws {
    var frames = NativeFrames(limit: PageTranslator.largestMessage)
    let socket: CInt
    let rights: PageRights
    do {
      guard let first = try Self.firstFrame(&frames) else { return }
      rights = try self.rights(first)
      socket = try TrustedSocket.connect(to: global.location, within: Self.connectTime)
    } catch {
      // The page gets the reason, and the browser's log the rest.
      guard let failure = CommandFailure(error) else { throw error }
      let isNoDaemon = failure.status == 3 || failure.status == 75
      Self.say([
        "sdkd": "refused", "reason": .string(isNoDaemon ? "noDaemon" : failure.reason),
        "message": .string(failure.message),
      ])
      throw failure
    }
    defer { close(socket) }
    Self.say(["sdkd": "open"])
    try StreamJoin(
      input: STDIN_FILENO, output: STDOUT_FILENO, socket: socket,
      translator: PageTranslator(rights: rights, frames: frames), endsWithInput: true
    ).run()
  }

  /// Returns the rights of the page that the extension names in its first message.
  private func rights(_ first: [UInt8]) throws -> PageRights {
    guard let message = try? JSONParser.parse(first), let origin = message["origin"]?.stringValue else {
      throw CommandFailure(message: "The extension has not said the page's origin.", reason: "badAnswer", status: 1)
    }
    let list = try BrowserManifest(at: manifest)
    guard list.mistakes.isEmpty else {
      throw CommandFailure(
        message:
          "The list of what pages may use has a mistake, so that no page may use anything: run sdkctl browser check.",
        reason: "invalidConfiguration", status: 1)
    }
    guard let rights = list.rights(of: origin) else {
      throw CommandFailure(
        message:
          "Pages of \(origin.clipped(toUTF8: 200)) may not use sdkd. The administrator lists origins in browser.json.",
        reason: "accessDenied", status: 4)
    }
    return rights
  }

  /// Returns the first frame; `nil` when the browser closes the input instead.
  private static func firstFrame(_ frames: inout NativeFrames) throws -> [UInt8]? {
    let deadline = ContinuousClock.now + patience
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      do {
        if let frame = try frames.next() { return frame }
      } catch {
        throw CommandFailure.input("The browser's first message has \(error.length) bytes.")
      }
      let left = deadline - .now
      guard left > .zero else { throw CommandFailure.input("The browser has sent no message in time.") }
      var waiting = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
      guard poll(&waiting, 1, Int32(left / .milliseconds(1)) + 1) > 0 else { continue }
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      guard count != 0 else { return nil }
      if count > 0 { frames.append(chunk[..<count]) } else if errno != EINTR { throw SystemCallError("read", errno) }
    }
  }

  /// Writes a message of the host itself. It is small, and the first that the browser gets.
  private static func say(_ message: JSON) {
    var frame = NativeFrames.frame(JSONWriter.bytes(of: message))[...]
    while !frame.isEmpty {
      let count = frame.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      if count > 0 { frame = frame.dropFirst(count) }
    }
  }
}
