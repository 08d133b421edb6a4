import CLinux
import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A key in memory that is not swapped, not dumped, and erased on deinitialization.
///
/// The cipher needs a temporary copy for each use, which swift-crypto erases but which is not locked.
final class LockedKey: Sendable {
  static let byteCount = 32

  private nonisolated(unsafe) let page: UnsafeMutableRawPointer
  /// Whether the page is locked; false when the system refused to lock it (RLIMIT_MEMLOCK).
  let isLocked: Bool

  /// Copies a key into a page of its own.
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

  /// Calls `body` with a temporary copy of the key.
  func use<Result>(_ body: (SymmetricKey) throws -> Result) rethrows -> Result {
    try body(SymmetricKey(data: UnsafeRawBufferPointer(start: page, count: Self.byteCount)))
  }
}
