import Cryptography
import Foundation
import JSONRPC

/// A user of the installation, identified by the plain client id.
struct EdnaUser: Sendable {
  let id: String
  /// The client id as the last request or registration sent it, encrypted or plain.
  var identifier: EdnaIdentifier
  /// The credentials of the last request or registration.
  var credentials: JSON = [:]
  /// The content of the last `CLIENT_INFO`, without type and client id.
  var info: [String: JSON] = [:]
  /// The `data` of the last `INIT_CHAT` that had one.
  var data: JSON?

  /// Returns the user as `GET /_state` shows it.
  func tree(isOnline: Bool) -> JSON {
    .of([
      "clientId": .string(id),
      "encryptedClientId": identifier.decrypted == nil ? nil : .string(identifier.sent),
      "encryption": .optional(identifier.decrypted?.scheme),
      "auth": credentials, "info": .object(info), "data": data, "online": .bool(isOnline),
    ])
  }
}

/// An open socket and its progress through the sign-in steps.
struct EdnaSession: Sendable {
  /// The steps of signing in on a socket, in order: `registerDevice`, `INIT_CHAT`, then `CLIENT_INFO`.
  enum Step: String, Sendable {
    case opened
    case registered
    case initiated
    case informed
  }

  /// The credentials of the upgrade request.
  let credentials: EdnaCredentials
  var step = Step.opened
  /// The client id as sent. `registerDevice` sets it, `user` and `deviceAddress`.
  var clientID = ""
  var user = ""
  var deviceAddress = ""

  func tree(_ socket: Int) -> JSON {
    [
      "socket": .number(Double(socket)), "step": .string(step.rawValue), "clientId": .string(user),
      "deviceAddress": .string(deviceAddress),
    ]
  }
}

/// A registered installation with its device address and its push address.
struct EdnaDevice: Sendable {
  let address: String
  /// The plain client id of the device's user.
  let clientID: String
  let deviceUID: String?
  /// The address for pushes; `nil` without a push subscription.
  var pushAddress: String?

  var tree: JSON {
    .of([
      "deviceAddress": .string(address), "clientId": .string(clientID), "deviceUid": .optional(deviceUID),
      "pnsPushAddress": .optional(pushAddress),
    ])
  }
}

/// A client id as sent, and its decrypted form if it is encrypted.
struct EdnaIdentifier: Equatable, Sendable {
  let sent: String
  /// The decrypted id; `nil` for an id that is not encrypted with the demo key.
  let decrypted: Decrypted?

  struct Decrypted: Equatable, Sendable {
    let id: String
    /// The encryption scheme: `rsa-oaep-sha256`, `rsa-oaep-sha1` or `rsa-pkcs1`.
    let scheme: String
  }

  init(_ sent: String) {
    self.sent = sent
    decrypted = Self.decrypt(sent)
  }

  /// The plain client id, which identifies the user: two encryptions of the same id are the same user.
  var plain: String { decrypted?.id ?? sent }

  private static func decrypt(_ text: String) -> Decrypted? {
    guard let bytes = Data(base64Encoded: text), bytes.count == 256,
      let der = Data(base64Encoded: DemoAccounts.identifierPrivateKey),
      let key = RSAPrivateKey(der: Array(der))
    else { return nil }
    let paddings: [(String, RSAPadding)] = [
      ("rsa-oaep-sha256", .oaepSHA256), ("rsa-oaep-sha1", .oaepSHA1), ("rsa-pkcs1", .pkcs1),
    ]
    for (scheme, padding) in paddings {
      guard let plain = key.decrypt(Array(bytes), padding), !plain.isEmpty,
        let id = String(bytes: plain, encoding: .utf8)
      else { continue }
      return Decrypted(id: id, scheme: scheme)
    }
    return nil
  }
}
