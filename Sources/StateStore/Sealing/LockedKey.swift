import CLinux
import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A key in memory that is not swapped, not dumped, and erased when it is given up.
///
/// The cipher needs a copy for each use; swift-crypto erases it afterwards, but it is not locked.
final class LockedKey: Sendable {
  static let byteCount = 32

  private nonisolated(unsafe) let page: UnsafeMutableRawPointer
  /// False when the system refused to lock the page (RLIMIT_MEMLOCK).
  let isLocked: Bool

  /// Moves a key into a page of its own.
  init(_ key: SymmetricKey) throws(StoreOpenError) {
    var memory: UnsafeMutableRawPointer?
    let status = cl_mlock_secret_page(Self.byteCount, &memory)
    guard status >= 0, let memory, key.bitCount == Self.byteCount * 8 else {
      throw .unwritable("no memory for keys (error \(-status))")
    }
    page = memory
    isLocked = status == 0
    key.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count) }
  }

  deinit { cl_erase_secret_page(page, Self.byteCount) }

  /// Lends the key.
  func use<Result>(_ body: (SymmetricKey) throws -> Result) rethrows -> Result {
    try body(SymmetricKey(data: UnsafeRawBufferPointer(start: page, count: Self.byteCount)))
  }
}
