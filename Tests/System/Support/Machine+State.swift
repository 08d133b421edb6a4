import Foundation
import JSONRPC
import Subprocess
import SystemPackage

/// Access to the state of the system's daemon.
extension Machine {
  /// Creates an instance and stores a draft in it.
  func createInstance(_ id: String) async throws {
    let settings = #"{"base_url":"http://127.0.0.1:8787/zm","app_id":"5f0000000000000000000001"}"#
    try await sh(
      """
      sdkctl call instance.create '{"instance":"\(id)","kind":"zendesk.messaging","settings":\(settings)}'
      sdkctl call storage.put '{"instance":"\(id)","key":"draft","value":"of \(id)"}'
      """)
  }

  /// Returns the draft that is stored in an instance.
  func draft(of id: String) async throws -> String? {
    let ended = try await sh("sdkctl call storage.get '{\"instance\":\"\(id)\",\"key\":\"draft\"}' -o jsonl")
    return try JSONParser.parse(ended.output)["value"]?.stringValue
  }

  /// Returns the error of a call.
  func failure(_ method: String, _ params: String = "{}") async throws -> JSON {
    let ended = try await run(["sdkctl", "call", method, params, "-o", "jsonl"])
    let line = ended.error.split(separator: "\n").last.map(String.init) ?? "{}"
    return try JSONParser.parse(line)
  }

  /// Returns one check of `daemon.health` by its name, or the whole response for `nil`.
  func health(_ check: String? = nil) async throws -> JSON {
    let health = try JSONParser.parse(try await sh("sdkctl call daemon.health -o jsonl").output)
    guard let check else { return health }
    return health["checks"]?.arrayValue?.first { $0["name"]?.stringValue == check } ?? .null
  }

  /// Changes the database of the stopped daemon with SQL, as an attacker with access to the file could.
  func changeDatabase(_ sql: String) async throws {
    let script = """
      import shutil, sqlite3, sys, tempfile
      path = f"/proc/{sys.argv[1]}/root/var/lib/sdkd/state.db"
      # SQLite itself would follow /proc/PID/root out of the machine.
      with tempfile.NamedTemporaryFile() as copy:
          shutil.copyfile(path, copy.name)
          database = sqlite3.connect(copy.name)
          database.execute(sys.argv[2])
          database.commit()
          database.close()
          with open(copy.name, "rb") as changed, open(path, "r+b") as state:
              state.write(changed.read())
      """
    let ended = try await Subprocess.run(
      .path("/usr/bin/python3"), arguments: ["-c", script, String(leader), sql], output: .string(limit: 4096),
      error: .string(limit: 4096))
    guard case .exited(0) = ended.terminationStatus else { throw Failure(description: ended.standardError) }
  }

  /// Returns digests of the state's files, without the log, the shared memory and the lock.
  func stateDigests() async throws -> String {
    try await sh(
      "find /var/lib/sdkd/ -type f ! -name '*-shm' ! -name '*-wal' ! -name lock | sort | xargs sha256sum"
    ).output
  }
}
