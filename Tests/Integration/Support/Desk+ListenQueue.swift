import JSONRPC

extension Desk {
  /// The maximum number of connections that may wait at the control socket, by the kernel's own figure (`ss -xl`,
  /// column Send-Q), and the maximum that the kernel allows.
  var listenQueue: (length: Int?, limit: Int?) {
    get throws {
      let said = try play(
        """
        import struct
        diag = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
        # sock_diag(7): a dump of the unix sockets that listen, with their names and queues.
        diag.send(struct.pack("=IHHIIBBHIIIII", 40, 20, 0x301, 1, 0, socket.AF_UNIX, 0, 0, 1 << 10, 0, 0x11, 0, 0))
        length, isEnd = None, False
        while not isEnd:
            data = diag.recv(1 << 16)
            while data:
                size, kind = struct.unpack("=IH", data[:6])
                message, data = data[16:size], data[(size + 3) & ~3:]
                isEnd = isEnd or kind in (2, 3)
                attributes, rest = {}, message[16:]
                while kind == 20 and rest:
                    count, key = struct.unpack("=HH", rest[:4])
                    attributes[key], rest = rest[4:count], rest[(count + 3) & ~3:]
                if attributes.get(0, b"").rstrip(b"\\0") == path.encode():
                    length = struct.unpack("=II", attributes[4])[1]
        say([length, int(open("/proc/sys/net/core/somaxconn").read())])
        """)
      return (said.arrayValue?.first?.intValue, said.arrayValue?.last?.intValue)
    }
  }
}
