// Runs a fuzz target over its corpus: what once went wrong does not again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace ordo::tests::fuzz {
namespace {

constexpr size_t kMaxInputBytes = 1 << 20;

TEST(CorpusTest, EachInputIsTaken) {
  base::PosixFilesystem files;
  const char* const folder = std::getenv("ORDO_CORPUS");
  ASSERT_NE(folder, nullptr);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto names, files.List(folder));
  EXPECT_THAT(names, ::testing::Not(::testing::IsEmpty()));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const std::string input,
        base::ReadFile(files, base::JoinPath(folder, name), kMaxInputBytes));
    EXPECT_EQ(LLVMFuzzerTestOneInput(
                  reinterpret_cast<const uint8_t*>(input.data()), input.size()),
              0);
  }
}

}  // namespace
}  // namespace ordo::tests::fuzz
