import Glibc
import Testing

@testable import DelegateBridge

@Suite struct ProgramCheckTests {
  private func refusal(_ path: String, _ check: ProgramCheck = ProgramCheck()) -> ProgramCheck.Refusal? {
    do throws(ProgramCheck.Refusal) {
      _ = try check.resolve(path)
      return nil
    } catch {
      return error
    }
  }

  private func sentence(_ path: String, _ check: ProgramCheck = ProgramCheck()) -> String {
    if case .notAllowed(let sentence)? = refusal(path, check) { sentence } else { "" }
  }

  @Test func followsLinksToTheProgram() throws {
    let directory = try ScriptDirectory()
    let script = try directory.shell("true")
    symlink("./provider", "\(directory.path)/link")
    #expect(try ProgramCheck().resolve("\(directory.path)/./link") == script)
    #expect(try ProgramCheck().resolve("//tmp/..\(directory.path)/provider") == script)
    #expect(try !ProgramCheck().resolve("/bin/sh").hasSuffix("/bin/sh"), "a link on every Debian")
  }

  @Test func missingIsAnotherMatter() throws {
    let directory = try ScriptDirectory()
    for path in ["\(directory.path)/none", "\(directory.path)/none/provider", "/etc/passwd/x"] {
      guard case .missing? = refusal(path) else {
        Issue.record("\(path) should be missing")
        continue
      }
    }
    symlink("link", "\(directory.path)/link")
    let sentence = "The token provider \(directory.path)/link has too many symbolic links."
    #expect(refusal("\(directory.path)/link") == .missing(sentence))
  }

  @Test(arguments: [0o777, 0o775, 0o757]) func othersMayNotWriteTheProgram(mode: mode_t) throws {
    let directory = try ScriptDirectory()
    let script = try directory.shell("true", mode: mode)
    #expect(sentence(script).contains("\(script) (mode \(String(mode, radix: 8)))"))
  }

  @Test(arguments: [0o777, 0o770]) func othersMayNotWriteADirectoryOnTheWay(mode: mode_t) throws {
    let directory = try ScriptDirectory()
    mkdir("\(directory.path)/sub", 0o755)
    let script = try directory.shell("true", as: "sub/provider")
    #expect(refusal(script) == nil)
    chmod("\(directory.path)/sub", mode)
    #expect(sentence(script).contains("\(directory.path)/sub (mode \(String(mode, radix: 8)))"))
    // A link from a safe directory does not hide the unsafe one: the directories of link and target are both checked.
    symlink(script, "\(directory.path)/link")
    #expect(sentence("\(directory.path)/link").contains("/sub (mode"))
  }

  @Test func onlyRegularExecutableFiles() throws {
    let directory = try ScriptDirectory()
    #expect(sentence("/dev/null").contains("no regular file"))
    #expect(sentence(directory.path).contains("is a directory"))
    #expect(sentence("/").contains("is a directory"))
    #expect(sentence("bin/sh").contains("not absolute"))
    #expect(sentence(try directory.shell("true", mode: 0o644)).contains("not executable (mode 644)"))
  }

  @Test func ownerIsRootOrTheDaemon() throws {
    let directory = try ScriptDirectory()
    let script = try directory.shell("true")
    guard geteuid() == 0 else { return }
    // A file of root is accepted for every daemon. A file of another user is accepted only for that user's daemon.
    #expect(refusal("/bin/sh", ProgramCheck(user: 65_534)) == nil)
    chown(script, 65_533, 65_533)
    #expect(sentence(script).contains("belongs to uid 65533"))
    #expect(refusal(script, ProgramCheck(user: 65_533)) == nil)
  }

  @Test func aScriptIsAsSafeAsItsInterpreter() throws {
    let directory = try ScriptDirectory()
    let interpreter = try directory.shell("true", as: "link")
    let script = try directory.write("#! \(interpreter) -x\n", as: "provider")
    #expect(refusal(script) == nil)
    chmod(interpreter, 0o777)
    #expect(sentence(script).contains("/link (mode 777)"))
    chmod(interpreter, 0o755)
    try directory.write("#!sh\n", as: "provider")
    #expect(sentence(script).contains("not absolute"))
    try directory.write("#!/nowhere/sh\n", as: "provider")
    let remedy = "install it or change the first line of \(script)."
    #expect(refusal(script) == .missing("The token provider /nowhere is missing; \(remedy)"))
    try directory.write("#!\(script)\n", as: "provider")
    #expect(refusal(script) == .missing("The token provider \(script) has too many interpreters."))
  }

  @Test(
    arguments: [
      ("#!/bin/sh\necho", "/bin/sh"), ("#! /usr/bin/env python3\n", "/usr/bin/env"), ("#!/bin/sh", "/bin/sh"),
      ("#!\t/a -b\n", "/a"), ("#!\n/bin/sh", nil), ("#!", nil), ("#", nil), ("\u{7F}ELF", nil), (" #!/bin/sh", nil),
    ] as [(String, String?)]) func theInterpreterIsTheFirstLinesFirstWord(text: String, path: String?)
  {
    #expect(Interpreter.path(in: Array(text.utf8)[...]) == path)
  }

  @Test func allowedDirectoriesNarrow() throws {
    let directory = try ScriptDirectory()
    let script = try directory.shell("true")
    #expect(refusal(script, ProgramCheck(allowed: ["/opt", directory.path + "/"])) == nil)
    #expect(refusal(script, ProgramCheck(allowed: ["/"])) == nil)
    #expect(sentence(script, ProgramCheck(allowed: ["/usr/libexec/none"])).contains("bridge.allow"))
    #expect(sentence(script, ProgramCheck(allowed: [String(directory.path.dropLast())])).contains("bridge.allow"))
    // A link in an allowed directory to a program elsewhere is refused.
    symlink("/bin/sh", "\(directory.path)/link")
    #expect(sentence("\(directory.path)/link", ProgramCheck(allowed: [directory.path])).contains("bridge.allow"))
  }
}
