#include "model/formats/safetensors_header.h"

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file with this header and so many bytes of tensors.
std::string FileOf(const std::string& header, size_t num_tensor_bytes) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  return bytes + header + std::string(num_tensor_bytes, 'x');
}

constexpr char kHeader[] =
    R"({"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";

class SafetensorsHeaderTest : public ::testing::Test {
 protected:
  absl::StatusOr<SafetensorsHeader> Read(const std::string& bytes) {
    const std::string path = folder_.Path("w.safetensors");
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path, bytes));
    return ReadSafetensorsHeader(files_, path, "w.safetensors");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
};

TEST_F(SafetensorsHeaderTest, SaysWhereEachTensorLies) {
  const auto header = Read(FileOf(kHeader, 8));
  ORDO_ASSERT_OK(header);
  EXPECT_EQ(header->num_bytes, 8 + sizeof(kHeader) - 1);
  ASSERT_EQ(header->entries.size(), 1u);
  EXPECT_EQ(header->entries[0].name, "w");
  EXPECT_EQ(header->entries[0].type, "F32");
  EXPECT_THAT(header->entries[0].shape, ElementsAre(2, 1));
  EXPECT_EQ(header->entries[0].end, 8u);
}

TEST_F(SafetensorsHeaderTest, DamageIsNamedByTheShownPath) {
  std::string long_header = FileOf(kHeader, 8);
  long_header[2] = 1;
  const struct {
    std::string bytes;
    const char* message;
  } cases[] = {
      {"abc", "read safetensors file w.safetensors: it is too short"},
      {FileOf(kHeader, 7),
       "the header describes 8 bytes of tensors, the file "
       "has 7"},
      {FileOf(kHeader, 9), "the file has 9"},
      {long_header, "the header's length is not right"},
      {FileOf("[1]", 0), "does not begin with '{'"},
      {FileOf("{\"w\":" + std::string(1000, '[') + std::string(1000, ']') + "}",
              0),
       "nested too deep"},
      {FileOf("{\"w\":1}", 0), "tensor 'w': needs dtype, shape and"},
  };
  for (const auto& [bytes, message] : cases) {
    EXPECT_THAT(Read(bytes),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
  }
}

}  // namespace
}  // namespace ordo::model::formats
