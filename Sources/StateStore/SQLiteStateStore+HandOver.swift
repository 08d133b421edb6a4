import Cryptography
import FoundationEssentials
public import SDKProtocol

/// The sealing of what this process leaves to the next one on the same state.
extension SQLiteStateStore {
  /// The version of the sealed format.
  private static let handOverVersion: UInt64 = 1

  /// Seals bytes for the process that opens the state next.
  ///
  /// - Parameter machine: the identity of the running system; a sealed value opens on no other one.
  /// - Throws: `storeUnavailable`.
  public func sealForNext(_ bytes: [UInt8], machine: String) throws(SDKError) -> [UInt8] {
    do throws(SealError) { return Array(try Seal.seal(Data(bytes), under: handOverKey, context(0, machine))) } catch {
      throw .storeUnavailable("The state of connections can't be sealed.")
    }
  }

  /// Opens what the process that had the state before has sealed. Returns `nil` for everything else: another version,
  /// system or state, or what an earlier process has sealed.
  public func openFromLast(_ sealed: [UInt8], machine: String) -> [UInt8]? {
    (try? Seal.open(Data(sealed), under: handOverKey, context(1, machine), what: "a hand-over")).map { Array($0) }
  }

  private var handOverKey: SymmetricKey {
    vault.outboxNames.use { DerivedKey.derive(from: $0, purpose: "hand-over") }
  }

  /// Returns the context of a hand-over by the process `starts` starts ago.
  private func context(_ starts: Int, _ machine: String) -> AdditionalData {
    var context = AdditionalData("hand-over")
    context.append(Self.handOverVersion)
    context.append(meta.stateID)
    context.append(machine)
    context.append(UInt64(bitPattern: Int64(meta.restartCount - starts)))
    return context
  }
}
