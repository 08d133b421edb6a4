"""A display without hardware, and pictures of it."""
import os, struct, subprocess, zlib

WIDTH, HEIGHT = 420, 360


class Screen:
    def __init__(self, folder):
        read, write = os.pipe()
        self._file = os.path.join(folder, "Xvfb_screen0")
        self._process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", folder, "-nolisten", "tcp"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = f":{number.readline().strip()}"

    def picture(self):
        """A PNG of the screen, whose memory is a file in the format of xwd."""
        with open(self._file, "rb") as file:
            data = file.read()
        header = struct.unpack(">25I", data[:100])
        begin, line = header[0] + header[19] * 12, header[12]
        rows = []
        for row in range(HEIGHT):
            pixels = data[begin + row * line:begin + row * line + WIDTH * 4]
            rgb = bytearray(WIDTH * 3)
            rgb[0::3], rgb[1::3], rgb[2::3] = pixels[2::4], pixels[1::4], pixels[0::4]
            rows.append(b"\0" + bytes(rgb))

        def chunk(kind, body):
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + chunk(b"IEND", b""))

    def close(self):
        self._process.kill()
        self._process.wait()
