import GRDB
import SDKProtocol

/// Reads all instances; those that do not open are set apart one by one.
enum StateLoader {
  static func load(_ db: Database, vault: Vault) throws -> StoredState {
    var state = StoredState()
    let rows = try Row.fetchCursor(db, sql: InstanceRow.selection + " ORDER BY i.id")
    while let row = try rows.next() {
      guard let parsed = InstanceRow(row) else {
        append(row, problem: "its row", to: &state)
        continue
      }
      do throws(SealError) {
        if let instance = try OpenInstance(opening: parsed, vault: vault).stored {
          state.instances.append(instance)
        } else {
          append(row, problem: "its definition", to: &state)
        }
      } catch {
        append(row, problem: error.what, to: &state)
      }
    }
    return state
  }

  private static func append(_ row: Row, problem: String, to state: inout StoredState) {
    guard let uuid = row.text(0) else { return }
    // A name that is none was written by somebody else; the instance still has to be shown to be deleted.
    guard let id = row.text(1).flatMap(InstanceID.init) ?? InstanceID("damaged-\(uuid.prefix(8))") else { return }
    state.quarantined.append(
      QuarantinedInstance(uuid: InstanceUUID(uuid), id: id, problem: InstanceProblem.text(problem)))
  }
}
