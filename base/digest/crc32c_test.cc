#include "base/digest/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

// RFC 3720, section B.4, and the usual check value.
TEST(Crc32cTest, GivesThePublishedAnswers) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

}  // namespace
}  // namespace ordo::base
