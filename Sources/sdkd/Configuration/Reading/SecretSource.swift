import Glibc
import JSONRPC
import Linux
import SDKInstances
import SDKProtocol

/// A resolver of secrets that files refer to: `{ credential = "NAME" }`, `{ file = "/path" }`.
struct SecretSource: Sendable {
  /// The directory of the unit's credentials; `nil` when systemd passed none.
  let credentialsDirectory: String?

  /// The longest secret, in bytes. Secrets of the SDKs are far shorter.
  static let maximumBytes = 64 << 10

  /// Returns the secret of a reference.
  ///
  /// - Throws: the reason why it can't be read.
  func secret(_ reference: JSONObject) throws(SecretProblem) -> String {
    let names = ["credential", "file"]
    if let unknown = reference.keys.first(where: { !names.contains($0) }) {
      let nearest = unknown.nearest(in: names)
      throw SecretProblem(
        member: unknown, message: "This key is not known; a secret is text, { credential = … } or { file = … }.",
        nearest: nearest)
    }
    guard reference.count == 1, let member = reference.members.first, let value = member.value.stringValue else {
      throw SecretProblem(message: "A secret is text, { credential = \"NAME\" } or { file = \"/PATH\" }.")
    }
    return member.key == "file" ? try file(value) : try credential(value)
  }

  private func credential(_ name: String) throws(SecretProblem) -> String {
    func refuse(_ message: String) -> SecretProblem { SecretProblem(member: "credential", message: message) }
    let letters = name.utf8
    guard (1...255).contains(letters.count), name != ".", name != "..",
      letters.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") })
    else { throw refuse("This is no name of a credential.") }
    guard let credentialsDirectory else {
      throw refuse("There are no credentials; the unit needs LoadCredential= or LoadCredentialEncrypted=.")
    }
    let bytes: [UInt8]
    do throws(FileProblem) {
      bytes = try BoundedFile(reading: "\(credentialsDirectory)/\(name)", limit: Self.maximumBytes).bytes
    } catch {
      throw refuse("The credential \(error).")
    }
    do { return try Secret(fileContent: bytes).reveal() } catch { throw refuse("The credential \(error).") }
  }

  private func file(_ path: String) throws(SecretProblem) -> String {
    func refuse(_ message: String) -> SecretProblem { SecretProblem(member: "file", message: message) }
    guard path.hasPrefix("/") else { throw refuse("This must be an absolute path.") }
    let content: BoundedFile
    do throws(FileProblem) {
      content = try BoundedFile(reading: path, limit: Self.maximumBytes)
      guard !content.mode.isReadableByOthers else { throw .readableByOthers }
    } catch {
      throw refuse("The file \(error).")
    }
    do { return try Secret(fileContent: content.bytes).reveal() } catch { throw refuse("The file \(error).") }
  }
}

/// The reason why a secret can't be read.
struct SecretProblem: Error, Sendable, Hashable {
  /// The reference's member that is wrong; `nil` for the reference as a whole.
  var member: String?
  /// The problem; never contains the secret.
  var message: String
  /// The valid name nearest to an unknown one.
  var nearest: String?
}
