import NIOCore
import SDKInstances
import SDKProtocol

@testable import JSONRPC
@testable import JSONRPCTransport
@testable import SDKKinds

extension FuzzTarget {
  /// The clients' side of the socket: both framings, messages, batches, and the params of every method.
  static let frames = FuzzTarget("frames", maximumLength: 24 << 10, bytesPerLine: 64) { input in
    let frames = read(input.bytes, pieces: input.bytes.count)
    require(frames == read(input.bytes, pieces: 3), "Frames depend on the pieces in which they come.")
    for case .frame(let text) in frames {
      do throws(RPCError) {
        switch try RPCFrame(text) {
        case .single(let message): check(message)
        case .batch(let messages):
          require((1...RPCFrame.maximumBatch).contains(messages.count), "A batch has \(messages.count) messages.")
          for message in messages { check(message) }
        }
      } catch {
        check(error, of: .null)
      }
    }
  }

  /// The methods that clients can call, and those that the daemon calls.
  static let methods = MethodCatalog(
    CommonMethods.all.map { $0 as any RPCMethod.Type } + Kinds.all.flatMap(\.methods).map { $0 as any RPCMethod.Type }
      + CommonMethods.requests.map { $0 as any RPCMethod.Type })

  private static let frameLimit = 8 << 10

  private static func read(_ bytes: [UInt8], pieces size: Int) -> [Framer.Output] {
    var framer = Framer(limit: frameLimit)
    var found: [Framer.Output] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      framer.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let output = framer.next() { found.append(output) }
    }
    framer.finish()
    while let output = framer.next() { found.append(output) }
    // A frame that is too long can be noticed before its end or at it; then nothing follows.
    require(
      framer.pendingBytes <= frameLimit + FrameHeader.maximumBytes, "The framer keeps more than a frame.")
    require(found.dropLast().allSatisfy(isFrame), "Something follows a refused frame.")
    let texts: [Framer.Output] = found.map { if case .frame(let text) = $0 { .frame(Array(text)[...]) } else { $0 } }
    checkWriting(texts, in: framer.framing)
    return texts
  }

  private static func isFrame(_ output: Framer.Output) -> Bool { if case .frame = output { true } else { false } }

  /// Checks that texts written with headers read back unchanged.
  private static func checkWriting(_ texts: [Framer.Output], in framing: Framing?) {
    guard framing == .headers else { return }
    var buffer = ByteBuffer()
    for case .frame(let text) in texts { buffer.writeMessage(.headers) { $0.writeBytes(text) } }
    var framer = Framer(limit: frameLimit)
    framer.append(buffer.readableBytesView)
    for case .frame(let text) in texts {
      guard case .frame(let again)? = framer.next() else { fatalError("A written message can't be read back.") }
      require(again.elementsEqual(text), "A message reads back as another one.")
    }
  }

  private static func check(_ message: RPCMessage) {
    switch message {
    case .request(let request):
      require(request.method.utf8.count <= RPCMessage.maximumMethodBytes, "A method's name is too long.")
      check(request.id)
      guard let method = methods[request.method] else { return }
      do throws(RPCError) { try read(request.params, of: method) } catch { check(error, of: request.id) }
    case .response(let id, let result):
      check(id)
      if case .failure(let error) = result { check(error, of: id) }
    case .invalid(let id, let error), .invalidResponse(let id, let error):
      check(id)
      check(error, of: id)
    case .notification: break
    }
  }

  private static func check(_ id: RPCID) {
    require(id.byteCount <= RPCID.maximumBytes, "An id is too long.")
  }

  private static func check(_ error: RPCError, of id: RPCID) {
    let text = RPCText.response(id: id, error: error)
    require((try? RPCFrame(text[...])) != nil, "An error can't be read back.")
  }

  private static func read<M: RPCMethod>(_ params: JSON?, of method: M.Type) throws(RPCError) {
    let decoded = try M.decode(params)
    guard let json = try? JSONValueEncoder.encode(decoded) else { fatalError("Params of \(M.name) can't be encoded.") }
    do {
      _ = try M.decode(json)
    } catch {
      fatalError("Params of \(M.name) can't be read back: \(error.message)")
    }
  }
}
