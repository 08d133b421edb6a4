import Glibc
import Linux
import NIOSSL
import SDKInstances

/// The files that trusted certificates are read from.
enum CertificateSource: Sendable, Hashable {
  /// A PEM file. Error messages call it `name`.
  case file(String, name: String)
  /// The file of `SSL_CERT_FILE` and the directories of `SSL_CERT_DIR`. In a directory only files whose names `openssl
  /// rehash` makes count, as in OpenSSL.
  case environment(file: String?, directories: [String])
  /// The certificates that the TLS library finds by itself.
  case library

  /// The maximum size of all files together, which is more than any list of authorities has.
  private static let maximumBytes = 4 << 20
  /// The maximum number of a directory's entries that are read.
  private static let maximumEntries = 8192

  /// Returns the source for a setting `ca_file`: its file, or else what the environment names, or else the system's
  /// file on Debian or Fedora. That file is looked for each time, because it may be installed while the daemon runs.
  static func of(
    caFile: String?, variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) -> CertificateSource {
    if let caFile { return .file(caFile, name: "the file of ca_file") }
    let file = variable("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
    let directories = (variable("SSL_CERT_DIR") ?? "").split(separator: ":").map(String.init)
    if file != nil || !directories.isEmpty { return .environment(file: file, directories: directories) }
    let system = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
    return system.first { FileStamp($0) != nil }.map { .file($0, name: "the file of the system's certificates") }
      ?? .library
  }

  /// The stamps of the file, or of the file and the directories. They change when one of these changes. Empty for
  /// `library`.
  var stamps: [FileStamp?] {
    switch self {
    case .file(let path, _): [FileStamp(path)]
    case .environment(let file, let directories): ([file].compactMap(\.self) + directories).map { FileStamp($0) }
    case .library: []
    }
  }

  /// The trusted certificates, read from the files; `nil` for `library`. Blocks.
  var certificates: [NIOSSLCertificate]? {
    get throws(HTTPFailure) {
      switch self {
      case .library: return nil
      case .file(let path, let name): return try Self.certificates(of: path, name)
      case .environment(let file, let directories):
        let named = try file.map { path throws(HTTPFailure) in
          try Self.certificates(of: path, "the file of SSL_CERT_FILE")
        }
        let found = (named ?? []) + Self.certificates(in: directories)
        guard !found.isEmpty else {
          throw .insecure("SSL_CERT_DIR names no directory with certificates; prepare it with openssl rehash")
        }
        // The file often holds those of the directories too.
        return Array(Set(found))
      }
    }
  }

  private static func certificates(of path: String, _ name: String) throws(HTTPFailure) -> [NIOSSLCertificate] {
    do throws(FileProblem) {
      let bytes = try BoundedFile(reading: path, limit: maximumBytes).bytes
      if let found = certificates(in: bytes) { return found }
    } catch {
      throw .insecure("\(name) \(error)")
    }
    throw .insecure("\(name) holds no certificates in the format PEM")
  }

  private static func certificates(in directories: [String]) -> [NIOSSLCertificate] {
    var found: [NIOSSLCertificate] = []
    var left = maximumBytes
    for path in directories.flatMap(files) {
      guard let bytes = try? BoundedFile(reading: path, limit: left).bytes else { continue }
      left -= bytes.count
      found += certificates(in: bytes) ?? []
    }
    return found
  }

  private static func certificates(in bytes: [UInt8]) -> [NIOSSLCertificate]? {
    guard !bytes.isEmpty, let found = try? NIOSSLCertificate.fromPEMBytes(bytes), !found.isEmpty else { return nil }
    return found
  }

  /// Returns the paths of a directory's files with names such as `0a775a30.0`.
  private static func files(in directory: String) -> [String] {
    guard let listing = opendir(directory) else { return [] }
    defer { closedir(listing) }
    var found: [String] = []
    var count = 0
    while count < maximumEntries, let entry = readdir(listing) {
      count += 1
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].count == 8, parts[0].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        !parts[1].isEmpty, parts[1].allSatisfy({ (0x30...0x39).contains($0) })
      else { continue }
      found.append("\(directory)/\(name)")
    }
    return found
  }
}

/// The check of a file of trusted certificates.
public enum CertificateFile {
  /// Returns the reason why a file can't be used, as a sentence; `nil` if it can. Blocks.
  public static func mistake(in path: String) -> String? {
    guard path.hasPrefix("/") else { return "This must be an absolute path." }
    do throws(HTTPFailure) {
      _ = try CertificateSource.file(path, name: "The file").certificates
      return nil
    } catch {
      if case .insecure(let words) = error { return "\(words)." }
      return "The file can't be read."
    }
  }
}

/// The identity, size and times of a file, which change when the file is written or replaced.
struct FileStamp: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let modified: [Int]

  /// Reads the stamp of a file; `nil` if the file's state can't be read.
  init?(_ path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    device = UInt64(info.st_dev)
    inode = UInt64(info.st_ino)
    size = Int64(info.st_size)
    modified = [info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec]
  }
}
