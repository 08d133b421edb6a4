internal import Glibc
public import JSONRPC

/// The state of a connection on its way from one process to another.
public struct ConnectionHandOver: Sendable, Hashable {
  /// A request that was accepted and not run.
  public struct Request: Sendable, Hashable {
    /// The text of the message.
    public var text: [UInt8]
    /// The index in `batches` of the batch that waits for the response; `nil` if no batch does.
    public var batch: Int?
    /// Whether this member of a batch has passed the check of unsent bytes and responses; true for other requests.
    public var isChecked = true
  }

  /// The inode of the socket, by which the receiver finds its descriptor.
  public var inode: UInt64
  /// The framing; `nil` if the peer has not chosen it.
  public var framing: Framing?
  /// The bytes that were read and not handled.
  public var input: [UInt8]
  /// The bytes that the kernel has not taken, perhaps from the middle of a message.
  public var output: [UInt8]
  /// The requests that were accepted and not run, in order.
  public var requests: [Request]
  /// The responses that each incomplete batch has. The others are those of its `requests`, of which it has some.
  public var batches: [[[UInt8]]] = []
  /// The number of the last request that was sent to the peer.
  public var lastQuestion: UInt64
  /// The start time of the peer's process, in clock ticks since boot, if the kernel has no descriptor of the process;
  /// `nil` if it was not pinned, or what is known of it is in `program`.
  public var processStart: UInt64?
  /// The program's own state of the connection.
  public var program: JSON

  /// Returns the inode of a socket; 0 if the descriptor is none.
  public static func inode(of descriptor: CInt) -> UInt64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return 0 }
    return UInt64(status.st_ino)
  }
}

/// The form in which states are passed on: for each a line of JSON with the lengths of `input` and `output`, which follow
/// as they are.
///
/// A version that does not know batches leaves out a state with one: there, a request is always a string.
extension ConnectionHandOver {
  /// The state as bytes.
  public var encoded: [UInt8] {
    var bytes = JSONWriter.bytes(of: header)
    bytes.reserveCapacity(bytes.count + 1 + input.count + output.count)
    bytes.append(UInt8(ascii: "\n"))
    bytes += input
    bytes += output
    return bytes
  }

  /// Numbers that don't fit into a double are strings.
  private var header: JSON {
    [
      "inode": .string("\(inode)"), "framing": framing.map { JSON.string($0.name) } ?? .null,
      "input": JSON(input.count), "output": JSON(output.count),
      "requests": .array(requests.map(\.json)),
      "batches": .array(batches.map { .array($0.map { .string(String(decoding: $0, as: UTF8.self)) }) }),
      "lastQuestion": .string("\(lastQuestion)"),
      "processStart": processStart.map { JSON.string("\($0)") } ?? .null, "program": program,
    ]
  }

  /// Reads states that follow one another. Leaves out those with a member that is missing or invalid, and everything
  /// after one whose length can't be read. So the line of `HandedRates` is left out, too. Unknown members are ignored.
  public static func decode(_ bytes: [UInt8]) -> [ConnectionHandOver] {
    var (rest, states) = (bytes[...], [ConnectionHandOver]())
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      guard let header = try? JSONParser.parse(rest[..<end], .ownText) else { break }
      rest = rest[(end + 1)...]
      guard let input = header["input"]?.intValue, let output = header["output"]?.intValue, input >= 0, output >= 0,
        input <= rest.count, output <= rest.count - input
      else { break }
      let state = ConnectionHandOver(
        header: header, input: Array(rest.prefix(input)), output: Array(rest.dropFirst(input).prefix(output)))
      if let state { states.append(state) }
      rest = rest.dropFirst(input + output)
    }
    return states
  }

  private init?(header: JSON, input: [UInt8], output: [UInt8]) {
    guard let inode = header["inode"]?.stringValue.flatMap({ UInt64($0) }), inode > 0,
      let lastQuestion = header["lastQuestion"]?.stringValue.flatMap({ UInt64($0) }),
      let texts = header["requests"]?.arrayValue, let program = header["program"], let name = header["framing"]
    else { return nil }
    guard let requests = texts.mapAll({ Request(json: $0) }), let batches = Self.batches(header["batches"]),
      Set(requests.compactMap(\.batch)) == Set(batches.indices)
    else { return nil }
    let start = header["processStart"]?.stringValue
    let processStart = start.flatMap { UInt64($0) }
    guard (start == nil) == (processStart == nil) else { return nil }
    var framing: Framing?
    if !name.isNull {
      guard let known = name.stringValue.flatMap(Framing.init(name:)) else { return nil }
      framing = known
    }
    self.init(
      inode: inode, framing: framing, input: input, output: output, requests: requests, batches: batches,
      lastQuestion: lastQuestion, processStart: processStart, program: program)
  }

  /// Reads the responses of batches. A version that does not know batches has none.
  private static func batches(_ json: JSON?) -> [[[UInt8]]]? {
    guard let json else { return [] }
    return json.arrayValue?.mapAll { batch in
      batch.arrayValue?.mapAll { text in text.stringValue.map { Array($0.utf8) } }
    }
  }
}

extension ConnectionHandOver.Request {
  /// The text, or an object if the request is of a batch.
  fileprivate var json: JSON {
    let string = JSON.string(String(decoding: text, as: UTF8.self))
    guard let batch else { return string }
    return ["batch": JSON(batch), "isChecked": .bool(isChecked), "text": string]
  }

  fileprivate init?(json: JSON) {
    if let text = json.stringValue {
      self.init(text: Array(text.utf8))
    } else {
      guard let text = json["text"]?.stringValue, let batch = json["batch"]?.intValue,
        let isChecked = json["isChecked"]?.boolValue
      else { return nil }
      self.init(text: Array(text.utf8), batch: batch, isChecked: isChecked)
    }
  }
}

extension Array {
  /// Returns the results of `transform`; `nil` if it returns `nil` for an element.
  fileprivate func mapAll<Mapped>(_ transform: (Element) -> Mapped?) -> [Mapped]? {
    let results = compactMap(transform)
    return results.count == count ? results : nil
  }
}

extension Framing {
  /// The name of a framing in which a connection can be handed over.
  fileprivate var name: String {
    switch self {
    case .lines: "lines"
    case .headers: "headers"
    case .http: "http"
    case .foreign: "foreign"
    }
  }

  fileprivate init?(name: String) {
    switch name {
    case "lines": self = .lines
    case "headers": self = .headers
    default: return nil
    }
  }
}

/// A connection that was taken out of a process.
public struct HandedConnection: Sendable {
  /// The socket, which belongs to the receiver of this value.
  public let descriptor: Int32
  /// Everything else.
  public let state: ConnectionHandOver

  /// Creates a connection.
  public init(descriptor: Int32, state: ConnectionHandOver) {
    self.descriptor = descriptor
    self.state = state
  }
}
