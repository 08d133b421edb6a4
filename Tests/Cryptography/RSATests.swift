import Foundation
import Testing

@testable import Cryptography

/// RSA with `openssl` on the other side, with keys that it makes.
@Suite struct RSATests {
  private let openssl = try? OpenSSL()

  @Test("openssl decrypts what was encrypted, and the other way round", arguments: RSAPadding.allCases)
  func encryption(padding: RSAPadding) throws {
    let openssl = try #require(openssl)
    let (publicKey, privateKey) = try openssl.keys()
    let message = Array("+49 151 2345678".utf8)
    let sent = try #require(publicKey.encrypt(message, padding))
    #expect(sent.count == publicKey.byteCount)
    #expect(publicKey.encrypt(message, padding) != sent)
    let options = Self.options(padding)
    #expect(try openssl.run(["pkeyutl", "-decrypt", "-inkey", "key.pem"] + options, input: sent) == message)
    let received = try openssl.run(["pkeyutl", "-encrypt", "-pubin", "-inkey", "public.pem"] + options, input: message)
    #expect(privateKey.decrypt(received, padding) == message)
    let largest = [UInt8](repeating: 7, count: publicKey.byteCount - padding.overhead)
    #expect(privateKey.decrypt(try #require(publicKey.encrypt(largest, padding)), padding) == largest)
    #expect(publicKey.encrypt(largest + [7], padding) == nil)
    for other in [[], [UInt8](repeating: 0, count: 256), [UInt8](repeating: 255, count: 256), sent.dropLast()] {
      #expect(privateKey.decrypt(Array(other), padding == .pkcs1 ? .oaepSHA256 : padding) == nil)
    }
  }

  @Test("openssl accepts a signature, and the other way round", arguments: ["sha256", "sha512"])
  func signatures(name: String) throws {
    let openssl = try #require(openssl)
    let (publicKey, privateKey) = try openssl.keys()
    let digest: RSADigest = name == "sha256" ? .sha256 : .sha512
    let message = Array("header.payload".utf8)
    let signature = try #require(privateKey.sign(message, digest))
    try openssl.write(signature, "signature")
    let answer = try openssl.run(
      ["dgst", "-\(name)", "-verify", "public.pem", "-signature", "signature"], input: message)
    #expect(String(decoding: answer, as: UTF8.self) == "Verified OK\n")
    let theirs = try openssl.run(["dgst", "-\(name)", "-sign", "key.pem"], input: message)
    #expect(publicKey.isValid(theirs, of: message, digest))
    #expect(!publicKey.isValid(theirs, of: message + [1], digest))
    #expect(!publicKey.isValid(theirs, of: message, name == "sha256" ? .sha512 : .sha256))
    #expect(!publicKey.isValid([], of: message, digest))
    #expect(!publicKey.isValid(Array(theirs.dropLast()), of: message, digest))
  }

  @Test("A public key is read in each form, and written as openssl writes it")
  func forms() throws {
    let openssl = try #require(openssl)
    let (publicKey, privateKey) = try openssl.keys()
    let written = try openssl.text("public.pem")
    #expect(publicKey.pem + "\n" == written)
    #expect(privateKey.publicKey.pem == publicKey.pem)
    _ = try openssl.run(["rsa", "-pubin", "-in", "public.pem", "-RSAPublicKey_out", "-out", "rsa.pem"])
    let numbers = String(
      decoding: try openssl.run(["rsa", "-pubin", "-in", "public.pem", "-modulus", "-noout"]), as: UTF8.self)
    let modulus = bytes(numbers.dropFirst("Modulus=".count).lowercased().trimmingCharacters(in: .newlines))
    for read in [
      RSAPublicKey(pem: try openssl.text("rsa.pem")), RSAPublicKey(der: publicKey.der),
      RSAPublicKey(modulus: modulus, exponent: [1, 0, 1]),
      RSAPublicKey(pem: "\n" + written.replacing("\n", with: "\r\n")),
      RSAPublicKey(pem: "A comment before the key.\n\(written)"),
    ] { #expect(read?.der == publicKey.der) }
  }

  @Test("What is no RSA key of 2048 bits is refused")
  func refused() throws {
    let openssl = try #require(openssl)
    let pem = try openssl.keys().0.pem
    _ = try openssl.run(["genrsa", "-out", "short.pem", "1024"])
    let short = try openssl.run(["rsa", "-in", "short.pem", "-pubout"])
    _ = try openssl.run(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "curve.pem"])
    let curve = try openssl.run(["ec", "-in", "curve.pem", "-pubout"])
    let lines = pem.split(separator: "\n")
    let broken = [
      "", "-----BEGIN PUBLIC KEY-----", pem + "\n" + pem, lines.dropLast().joined(separator: "\n"),
      lines.dropFirst().joined(separator: "\n"), pem.replacing("END PUBLIC", with: "END PRIVATE"),
      (lines.prefix(1) + lines.dropFirst(2)).joined(separator: "\n"), pem.replacing("M", with: "%"),
      "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----", String(decoding: short, as: UTF8.self),
      String(decoding: curve, as: UTF8.self), try openssl.text("key.pem"),
    ]
    for text in broken { #expect(RSAPublicKey(pem: text) == nil, "\(text)") }
    let der = try #require(RSAPublicKey(pem: pem)).der
    #expect(RSAPublicKey(der: der + [0]) == nil)
    for count in [0, 1, 20, der.count - 1] { #expect(RSAPublicKey(der: Array(der.prefix(count))) == nil) }
    #expect(RSAPublicKey(modulus: [], exponent: [1, 0, 1]) == nil)
    #expect(RSAPublicKey(modulus: [UInt8](repeating: 255, count: 256), exponent: []) == nil)
    #expect(RSAPublicKey(modulus: [UInt8](repeating: 255, count: 4096), exponent: [1, 0, 1]) == nil)
    #expect(RSAPrivateKey(der: der) == nil)
    #expect(RSAPrivateKey(der: []) == nil)
  }

  private static func options(_ padding: RSAPadding) -> [String] {
    let digest = padding == .oaepSHA1 ? "sha1" : "sha256"
    return padding == .pkcs1
      ? ["-pkeyopt", "rsa_padding_mode:pkcs1"]
      : ["rsa_padding_mode:oaep", "rsa_oaep_md:\(digest)", "rsa_mgf1_md:\(digest)"].flatMap { ["-pkeyopt", $0] }
  }
}

/// The program `openssl`, in a folder of its own that it leaves with the object.
private final class OpenSSL {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "openssl-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Makes a pair of keys: `key.pem` and `public.pem`.
  func keys() throws -> (RSAPublicKey, RSAPrivateKey) {
    _ = try run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key.pem"])
    _ = try run(["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"])
    let der = try run(["pkcs8", "-topk8", "-nocrypt", "-in", "key.pem", "-outform", "DER"])
    return (try #require(RSAPublicKey(pem: text("public.pem"))), try #require(RSAPrivateKey(der: der)))
  }

  func text(_ file: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appending(path: file)), as: UTF8.self)
  }

  func write(_ bytes: [UInt8], _ file: String) throws { try Data(bytes).write(to: folder.appending(path: file)) }

  func run(_ arguments: [String], input bytes: [UInt8] = []) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    try input.fileHandleForWriting.close()
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
    return Array(answer)
  }
}
