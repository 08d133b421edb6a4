import CLinux
import Cryptography
import FoundationEssentials
import Glibc
import Linux
import SDKProtocol

/// The key of one instance until its next wipe, or of one outbox entry, with its slot in the table of keys.
///
/// The wrapped key is written once and stays in place until it is overwritten. So a wipe or a rotation has to remove
/// only one sequence of bytes, at one place in the files.
struct DataKey {
  /// The length of a wrapped key in bytes.
  static let wrappedBytes = 32 + Seal.overhead

  let slot: Int64
  let key: SymmetricKey
  let wrapped: Data

  /// Creates a new key.
  init(newFor owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    self.slot = slot
    key = SymmetricKey()
    wrapped = try vault.wrap(key, for: owner, slot: slot)
  }

  /// Unwraps the key in a slot.
  init(opening wrapped: Data, of owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    self.slot = slot
    self.wrapped = wrapped
    key = try vault.unwrap(wrapped, for: owner, slot: slot)
  }
}

/// The key that wraps the data keys, derived from the master key.
struct WrappingKey: Sendable {
  private let key: LockedKey

  init(master: SymmetricKey) throws(StoreOpenError) {
    key = try LockedKey(DerivedKey.derive(from: master, purpose: "data keys"))
  }

  /// The error number with which the system refused to lock the key in memory; 0 for a locked key.
  var lockError: CInt { key.lockError }

  func wrap(_ plain: SymmetricKey, for owner: KeyOwner, slot: Int64) throws(SealError) -> Data {
    let bytes = plain.withUnsafeBytes { Data($0) }
    let sealed = key.use { wrapping in
      Result { () throws(SealError) in try Seal.seal(bytes, under: wrapping, owner.context(slot: slot)) }
    }
    return try sealed.get()
  }

  func unwrap(_ wrapped: Data, for owner: KeyOwner, slot: Int64) throws(SealError) -> SymmetricKey {
    let opened = key.use { wrapping in
      Result { () throws(SealError) in
        try Seal.open(wrapped, under: wrapping, owner.context(slot: slot), what: "its data key")
      }
    }
    return SymmetricKey(data: try opened.get())
  }
}

/// A key in memory that is not swapped, not dumped, and erased on deinitialization.
///
/// The cipher needs a temporary copy for each use, which is erased but which is not locked.
final class LockedKey: Sendable {
  static let byteCount = 32

  private nonisolated(unsafe) let page: UnsafeMutableRawPointer
  /// The error number with which the system refused to lock the page; 0 for a locked page.
  let lockError: CInt

  /// Copies a key into a page of its own.
  init(_ key: SymmetricKey) throws(StoreOpenError) {
    var memory: UnsafeMutableRawPointer?
    let status = cl_mlock_secret_page(Self.byteCount, &memory)
    guard status >= 0, let memory, key.byteCount == Self.byteCount else {
      throw .unwritable("no memory for keys (error \(-status))")
    }
    page = memory
    lockError = status
    key.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count) }
  }

  deinit { cl_erase_secret_page(page, Self.byteCount) }

  /// Calls `body` with a temporary copy of the key.
  func use<Result>(_ body: (SymmetricKey) throws -> Result) rethrows -> Result {
    try body(SymmetricKey(copying: UnsafeRawBufferPointer(start: page, count: Self.byteCount)))
  }
}

/// The warning that keys in memory could be written to swap space.
enum SwapWarning {
  /// Returns the warning for keys that the system did not lock in memory; `nil` if they can't be written anywhere.
  ///
  /// - Parameters:
  ///   - lockError: the error number with which it refused; 0 if all keys are locked.
  ///   - hasSwap: whether the machine has swap space.
  static func text(lockError: CInt, hasSwap: Bool = cl_has_swap() != 0) -> String? {
    guard lockError != 0, hasSwap else { return nil }
    if lockError == ENOMEM {
      return "Keys in memory could be written to swap space: RLIMIT_MEMLOCK is too low to lock them. Raise it, "
        + "such as with LimitMEMLOCK= in the unit or --ulimit memlock= of the container, or turn swap off."
    }
    return "Keys in memory could be written to swap space: the system does not permit sdkd to lock them "
      + "(mlock: \(SystemCallError.text(of: lockError))). Permit mlock in the container or in SystemCallFilter= of the "
      + "unit, or turn swap off."
  }
}
