import Foundation
import Glibc

/// A mounted tmpfs, which is unmounted in `deinit`.
final class SmallDisk: Sendable {
  let directory: TemporaryDirectory
  private let path: String

  /// Mounts the disk as the state directory, or as a folder in it.
  init?(
    kilobytes: Int, files: Int? = nil, at folder: String = "", in directory: TemporaryDirectory? = nil
  ) throws {
    self.directory = try directory ?? TemporaryDirectory()
    path = self.directory.state + folder
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let inodes = files.map { ",nr_inodes=\($0)" } ?? ""
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k,mode=0700\(inodes)") == 0 else { return nil }
  }

  deinit { umount2(path, 2) }

  var ballast: String { path + "/ballast" }

  func fill() throws {
    let descriptor = creat(ballast, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    let block = [UInt8](repeating: 1, count: 4096)
    while write(descriptor, block, block.count) > 0 {}
    close(descriptor)
  }

  func free() { unlink(ballast) }

  /// Creates empty files until the disk has no room for another one.
  func fillWithFiles() {
    var number = 0
    while case let file = creat("\(ballast)\(number)", 0o600), file >= 0 {
      close(file)
      number += 1
    }
  }

  func removeFiles() {
    var number = 0
    while unlink("\(ballast)\(number)") == 0 { number += 1 }
  }

  /// Makes the disk read-only, or writable again.
  func setReadOnly(_ isReadOnly: Bool) throws {
    let flags = UInt(32 | (isReadOnly ? 1 : 0))
    guard mount("tmpfs", path, "tmpfs", flags, nil) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  static let canMount: Bool = { (try? SmallDisk(kilobytes: 64)) != nil }()
}
