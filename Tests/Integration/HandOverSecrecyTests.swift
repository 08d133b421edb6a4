import CLinux
import Foundation
import Glibc
import JSONRPC
import Linux
import Testing

/// The state of connections on their way to the next daemon is in no file. The test has the part of the service manager.
@Suite struct HandOverSecrecyTests {
  @Test("Neither what connections have in progress nor its sealed form is in a file")
  func noFile() throws {
    let desk = try Desk()
    try desk.write("sdkd.toml", "[backup]\nevery = 0\n")
    try desk.write("temporary/empty", "")
    let environment = ["TMPDIR": desk.folder.appendingPathComponent("temporary").path]
    let manager = try ServiceManager(desk)
    // A restart without connections shows which files any restart makes.
    try manager.start(environment: environment)
    try manager.stop()
    try manager.start(environment: environment)
    let marker = "marker-\(UUID().uuidString)"

    // A request that waits for a delegate.
    let delegate = try desk.signInWithDelegate(on: try desk.connect())
    let waiting = try desk.connect()
    waiting.send(message: request("\(marker)-waiting", "token.get", ["instance": "desk", "minTTL": 7200]))
    let question = try #require(try delegate.json())
    // Responses that are not read, and longer than the kernel's buffer.
    let stalled = try desk.connect()
    for number in 0..<10 { stalled.send(message: request("\(marker)-stalled-\(number)", "rpc.discover", [:])) }
    // How many bytes fit depends on the sizes of the pieces in which they were written.
    var (last, repetitions) = (0, 0)
    try eventually("the kernel's buffer is full") {
      var bytes = [UInt8](repeating: 0, count: 1 << 18)
      let count = recv(stalled.descriptor, &bytes, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
      repetitions = count == last ? repetitions + 1 : 0
      last = count
      return count > 65_536 && repetitions > 3
    }
    // Part of a message, which has been read when a later connection is answered.
    let begun = try desk.connect()
    begun.send(#"{"jsonrpc":"2.0","id":"\#(marker)-begun","meth"#)
    try desk.connect().call("daemon.info")

    let names = try fileNames(desk)
    try manager.stop()
    let sealed = try sealedState(manager)
    #expect(sealed.count > 50_000, "unread output is a part of it")
    #expect(sealed.range(of: Data(marker.utf8)) == nil)
    let middle = sealed.count / 2
    let pieces = [Data(marker.utf8), sealed.prefix(32), sealed[middle..<(middle + 32)], sealed.suffix(32)]
    try expectNoFile(desk, with: pieces, except: names)
    try manager.start(environment: environment)
    begun.send(#"od":"daemon.info"}"# + "\n")
    #expect(try begun.json()?["id"] == .string("\(marker)-begun"))
    #expect(try delegate.json()?["method"] == "$/cancelRequest")
    #expect(try delegate.json()?["method"] == question["method"])
    try expectNoFile(desk, with: pieces, except: names)
  }

  private func request(_ id: String, _ method: String, _ params: JSON) -> JSON {
    ["jsonrpc": "2.0", "id": .string(id), "method": .string(method), "params": params]
  }

  /// Returns the sealed state in the only bag, which stays stored. Expects that it is in memory.
  private func sealedState(_ manager: ServiceManager) throws -> Data {
    let bag = try #require(manager.stored.first).descriptor
    manager.stored = []
    var room = [CInt](repeating: -1, count: Int(CL_MOST_DESCRIPTORS))
    let count = cl_receive_descriptors(bag.raw, &room)
    let descriptors = room.prefix(max(0, Int(count))).map { OwnedDescriptor($0) }
    let file = try #require(descriptors.first)
    let path = "/proc/self/fd/\(file.raw)"
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path).hasPrefix("/memfd:"))
    let state = try Data(contentsOf: URL(fileURLWithPath: path))
    try manager.store(ServiceManager.Bag(state: Array(state), descriptors: Array(descriptors.dropFirst())))
    return state
  }

  /// Returns the names of the files in the desk's folder, which has the state, the sockets and temporary files, but for the
  /// output of the starts.
  private func fileNames(_ desk: Desk) throws -> Set<String> {
    let all = try FileManager.default.subpathsOfDirectory(atPath: desk.folder.path)
    return Set(all.filter { !$0.hasPrefix("log") })
  }

  /// Expects that no file has one of these pieces, and that there is no other file than these.
  private func expectNoFile(_ desk: Desk, with pieces: [Data], except names: Set<String>) throws {
    #expect(try fileNames(desk).subtracting(names).isEmpty)
    for name in try FileManager.default.subpathsOfDirectory(atPath: desk.folder.path) {
      // Folders and sockets can't be read.
      guard let bytes = try? Data(contentsOf: desk.folder.appendingPathComponent(name)) else { continue }
      for (index, piece) in pieces.enumerated() {
        #expect(bytes.range(of: piece) == nil, "piece \(index) is in \(name)")
      }
    }
  }
}
