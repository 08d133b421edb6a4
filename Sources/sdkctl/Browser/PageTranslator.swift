import JSONRPC
import SDKProtocol

/// Turns a browser's frames into the daemon's lines and back, and lets through what the page's rights allow.
struct PageTranslator: StreamTranslator {
  /// The largest message of a page in bytes, which is that of the daemon.
  static let largestMessage = 1 << 20
  /// The largest line of the daemon in bytes that is looked at.
  private static let largestLine = 8 << 20

  let rights: PageRights
  private var frames: NativeFrames
  private var line: [UInt8] = []

  /// Creates the translator of a page. `frames` may have bytes already.
  init(rights: PageRights, frames: NativeFrames) {
    self.rights = rights
    self.frames = frames
  }

  mutating func readInput(_ bytes: ArraySlice<UInt8>, toSocket: inout [UInt8], toOutput: inout [UInt8]) -> Bool {
    frames.append(bytes)
    do {
      while let text = try frames.next() { take(text, &toSocket, &toOutput) }
      return true
    } catch {
      let problem = RPCError.invalidRequest("A message of \(error.length) bytes is larger than 1 MiB.")
      toOutput += NativeFrames.frame(Self.text(of: .null, problem))
      return false
    }
  }

  private func take(_ text: [UInt8], _ toSocket: inout [UInt8], _ toOutput: inout [UInt8]) {
    do {
      switch rights.decision(on: try JSONParser.parse(text)) {
      case .send(let message): toSocket += JSONWriter.bytes(of: message) + [Self.newline]
      case .refuse(let response?): toOutput += NativeFrames.frame(JSONWriter.bytes(of: response))
      case .refuse(nil): break
      }
    } catch {
      toOutput += NativeFrames.frame(Self.text(of: .null, RPCError.unparsed(error)))
    }
  }

  mutating func readSocket(_ bytes: ArraySlice<UInt8>, toOutput: inout [UInt8]) -> Bool {
    var rest = bytes
    while let end = rest.firstIndex(of: Self.newline) {
      line += rest[..<end]
      rest = rest[(end + 1)...]
      if let text = Self.fitting(line) { toOutput += NativeFrames.frame(text) }
      line = []
    }
    line += rest
    return line.count <= Self.largestLine
  }

  /// Returns a line of the daemon, or the error in its place if no browser takes it; `nil` for nothing.
  private static func fitting(_ line: [UInt8]) -> [UInt8]? {
    guard line.count > NativeFrames.largestForBrowser else { return line.isEmpty ? nil : line }
    guard let message = try? JSONParser.parse(line, .ownText), message["method"] == nil, let id = message["id"] else {
      return nil
    }
    return text(
      of: id,
      RPCError(
        code: -32050, reason: Reason.replyTooLarge.rawValue,
        message: "The reply is larger than the 1 MiB that a browser takes. Ask for less at a time."))
  }

  private static func text(of id: JSON, _ error: RPCError) -> [UInt8] {
    JSONWriter.bytes(of: ["jsonrpc": "2.0", "id": id, "error": error.json])
  }

  private static let newline = UInt8(ascii: "\n")
}
