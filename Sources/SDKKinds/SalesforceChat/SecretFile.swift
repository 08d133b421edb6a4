import Linux
import SDKInstances
import SDKProtocol

/// A secret in a file that only its owner and the daemon can read.
enum SecretFile {
  /// The maximum size of a file, which is more than any secret of a connected app has.
  private static let limit = 4096

  /// Returns the secret in a file without line ends after it.
  ///
  /// - Throws: `invalidAuthParameters` for a file that can't be read, that others can read, or that holds no secret.
  static func read(_ path: String, setting: String) throws(SDKError) -> Secret {
    func refused(_ why: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The file of \(setting) \(why).", member: setting)
    }
    let file: BoundedFile
    do throws(FileProblem) {
      file = try BoundedFile(reading: path, limit: limit)
      guard !file.mode.isReadableByOthers else { throw .readableByOthers }
    } catch {
      throw refused(error.description)
    }
    let end = file.bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
    let secret = Secret(String(decoding: file.bytes[..<end], as: UTF8.self))
    guard SalesforceText.isToken(secret) else { throw refused("holds no secret: printable, on one line") }
    return secret
  }
}
