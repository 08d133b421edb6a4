import Glibc
import Testing

@testable import Systemd

@Suite struct LogOutputTests {
  private let directory: TemporaryDirectory
  private let stream: String
  private let file: Int32

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write([], to: "stderr")
    file = open(directory.file("stderr"), O_RDWR | O_CLOEXEC)
    var status = stat()
    #expect(fstat(file, &status) == 0)
    stream = "\(status.st_dev):\(status.st_ino)"
  }

  private func detect(_ variables: [String: String], journal: String? = nil) -> LogOutput {
    defer { close(file) }
    return LogOutput.detect(
      variable: { variables[$0] }, standardError: file, journal: journal ?? directory.path)
  }

  @Test func standardErrorIsTheJournal() { #expect(detect(["JOURNAL_STREAM": stream]) == .journal) }

  @Test func journaldCannotBeReached() {
    let output = detect(["JOURNAL_STREAM": stream], journal: "/nonexistent/socket")
    #expect(output == .standardError(prefixed: true))
  }

  @Test(arguments: ["", ":", "1:2", "1", "1:2:3", "-1:2", "99999999999999999999:1", "a:b"])
  func inheritedOrBrokenVariable(value: String) {
    #expect(detect(["JOURNAL_STREAM": value]) == .standardError(prefixed: false))
  }

  @Test func startedBySystemdWithAnotherStandardError() {
    let variables = ["JOURNAL_STREAM": "1:2", "SYSTEMD_EXEC_PID": String(getpid())]
    #expect(detect(variables) == .standardError(prefixed: true))
  }

  @Test func startedByAShellThatSystemdStarted() {
    #expect(detect(["SYSTEMD_EXEC_PID": "1"]) == .standardError(prefixed: false))
  }

  @Test func nothingInTheEnvironment() { #expect(detect([:]) == .standardError(prefixed: false)) }

  @Test func anotherSocketGoesFirst() {
    let variables = ["SDKD_JOURNAL_SOCKET": "/x", "JOURNAL_STREAM": stream]
    #expect(detect(variables) == .journalSocket(path: "/x"))
  }
}
