import Testing

@testable import SDKInstances

struct PeerTests {
  private let kiosk = PeerProcess(unit: "kiosk.service", executable: "/usr/bin/kiosk")

  @Test("A given process is known at once")
  func givenProcess() {
    let peer = Peer(pid: 1, uid: 2, gid: 3, process: kiosk)
    #expect(peer.knownProcess == kiosk)
    #expect(peer.process == kiosk)
    #expect(Peer(pid: 1, uid: 2, gid: 3).knownProcess == PeerProcess())
  }

  @Test("A process is looked at once, and is known to all copies of the peer from then on")
  func lookedAtOnce() {
    let looks = Records<Int>()
    let peer = Peer(pid: 1, uid: 2, gid: 3, groups: []) { [kiosk] in
      looks.add(1)
      return kiosk
    }
    let copy = peer
    #expect(peer.knownProcess == nil)
    #expect(looks.count == 0)
    for _ in 0..<3 { #expect(peer.process == kiosk) }
    #expect(copy.knownProcess == kiosk)
    #expect(looks.count == 1)
  }

  @Test("What is known can be read while the process is looked at")
  func readDuringTheLook() {
    let peer = Records<Peer>()
    let known = Records<PeerProcess?>()
    peer.add(
      Peer(pid: 1, uid: 2, gid: 3, groups: []) { [kiosk] in
        // If `Peer` held the mutex of its result here, this read would deadlock.
        known.add(peer.all[0].knownProcess)
        return kiosk
      })
    #expect(peer.all[0].process == kiosk)
    #expect(known.all == [nil])
  }
}
