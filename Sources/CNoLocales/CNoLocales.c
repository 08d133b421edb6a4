// The form is that of ICU's "common data" (ICU User Guide, "ICU Data": header and table of contents).
#include <stdint.h>

__attribute__((aligned(16))) const struct {
  uint16_t headerSize;
  uint8_t magic[2];
  uint16_t infoSize, reservedWord;
  uint8_t isBigEndian, charsetFamily, sizeofUChar, reservedByte;
  uint8_t dataFormat[4], formatVersion[4], dataVersion[4], padding[8];
  uint32_t count, reserved;
  uint64_t end[2];
} ICU_DATA = {
    .headerSize = 32,
    .magic = {0xDA, 0x27},
    .infoSize = 20,
    .sizeofUChar = 2,
    .dataFormat = "ToCP",
    .formatVersion = {1},
};
