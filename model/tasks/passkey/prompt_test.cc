#include "model/tasks/passkey/prompt.h"

#include <string>
#include <vector>

#include "base/digest/digest.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::passkey {
namespace {

// Made with a second implementation, in Python, of generator and prompt.
TEST(Passkey, PromptsAreThoseOfTheBenchmarkBitForBit) {
  const struct {
    int64_t filler;
    uint32_t test;
    int64_t before;
    int64_t key;
    size_t length;
    const char* sha256;
  } cases[] = {
      {3072, 0, 2732, 43568, 3319, "e7c6aa7c67435192"},
      {3072, 1, 1061, 33004, 3319, "843a78c8d11c617a"},
      {29696, 0, 2732, 43568, 29943, "02d820170c10c4ea"},
      {29696, 1, 235, 12173, 29943, "775d05b4d2a83e00"},
  };
  for (const auto& of : cases) {
    const Hidden hidden = BenchmarkQuestion(of.filler, of.test);
    EXPECT_EQ(hidden.before, of.before);
    EXPECT_EQ(hidden.key, of.key);
    const std::string prompt = PromptOf(hidden);
    EXPECT_EQ(prompt.size(), of.length);
    EXPECT_EQ(base::Sha256Hex(prompt).substr(0, 16), of.sha256);
  }
}

TEST(Passkey, LengthsOfPromptsAreKnownBeforeTheyAreMade) {
  for (const int64_t key : {1, 99, 12345, 49999}) {
    for (const int64_t before : {0, 1, 88, 89, 90, 499}) {
      const Hidden hidden = {500, before, key};
      EXPECT_EQ(static_cast<int64_t>(PromptOf(hidden).size()),
                PromptLengthOf(hidden));
    }
  }
}

TEST(Passkey, NominalLengthsHaveThePublishedFiller) {
  std::vector<int64_t> filler;
  for (int64_t m = 1; m <= 8; ++m) filler.push_back(BenchmarkFiller(m));
  EXPECT_EQ(filler, (std::vector<int64_t>{3072, 7168, 10240, 14336, 18432,
                                          21504, 25600, 29696}));
}

}  // namespace
}  // namespace ordo::model::tasks::passkey
