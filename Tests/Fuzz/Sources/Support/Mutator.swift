import CFuzzer

/// libFuzzer's mutations, and repetition of a piece of the input, which is what finds costs that grow faster than the
/// input.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximumSize: Int, _ seed: UInt32) -> Int {
  var chance = UInt64(seed) << 32 | 0x9E37_79B9
  func next(_ bound: Int) -> Int {
    chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(chance >> 33) % max(1, bound)
  }
  guard next(32) == 0, size > 0, maximumSize > size else { return LLVMFuzzerMutate(data, size, maximumSize) }
  let start = next(size)
  let length = 1 + next(min(size - start, next(2) == 0 ? 4 : 64))
  let room = maximumSize - size
  let count = min(1 + next(next(2) == 0 ? 32 : 1 + room / length), room / length)
  guard count > 0 else { return LLVMFuzzerMutate(data, size, maximumSize) }
  let piece = Array(UnsafeBufferPointer(start: data + start, count: length))
  let tail = Array(UnsafeBufferPointer(start: data + start, count: size - start))
  for copy in 0..<count { (data + start + copy * length).update(from: piece, count: length) }
  (data + start + count * length).update(from: tail, count: tail.count)
  return size + count * length
}
