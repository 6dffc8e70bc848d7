#include "model/text/tokenizers/byte_alphabet.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers {
namespace {

TEST(ByteAlphabet, PutsWhatIsNotPrintableBehindTheBytes) {
  EXPECT_EQ(PrintableOfBytes("a b\n"),
            "a\xC4\xA0"
            "b\xC4\x8A");
  EXPECT_EQ(PrintableOfBytes(std::string(1, '\0')), "\xC4\x80");
  // 173, the soft hyphen, is the last of the 68.
  EXPECT_EQ(PrintableOfBytes("\xAD"), "\xC5\x83");
  EXPECT_EQ(PrintableOfBytes("\xC3\xA9"), "\xC3\x83\xC2\xA9");
}

TEST(ByteAlphabet, AllBytesComeBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes.push_back(static_cast<char>(byte));
  }
  EXPECT_EQ(BytesOfPrintable(PrintableOfBytes(bytes)), bytes);
}

TEST(ByteAlphabet, OtherCharactersStandForNothing) {
  EXPECT_EQ(BytesOfPrintable("a b"), std::nullopt);
  EXPECT_EQ(BytesOfPrintable("\xC5\x84"), std::nullopt);
  EXPECT_EQ(BytesOfPrintable("\xE2\x96\x81"), std::nullopt);
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
