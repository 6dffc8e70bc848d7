#include "model/formats/weights.h"

#include "ATen/ops/ones.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/safetensors.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

class WeightsTest : public ::testing::Test {
 protected:
  void Save(const std::string& file, const TensorMap& tensors) {
    ORDO_ASSERT_OK(
        training::WriteSafetensors(files_, folder_.Path(file), tensors));
  }

  void SaveIndex(const std::string& text) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto file,
                              files_.OpenForWrite(folder_.Path(kIndexFile),
                                                  base::WriteMode::kTruncate));
    ORDO_ASSERT_OK(file->Append(text));
    ORDO_ASSERT_OK(file->Close());
  }

  void ExpectDamaged(const std::string& message) {
    EXPECT_THAT(ReadWeights(files_, folder_.path()).status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(WeightsTest, SeveralFilesAreOneMap) {
  Save("a.safetensors", {{"x", at::ones({2})}});
  Save("b.safetensors", {{"y", at::ones({3})}, {"z", at::ones({1})}});
  SaveIndex(R"({"metadata": {"total_size": 24}, "weight_map":
      {"x": "a.safetensors", "y": "b.safetensors", "z": "b.safetensors"}})");
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap all,
                            ReadWeights(files_, folder_.path()));
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(all.at("y").numel(), 3);
}

TEST_F(WeightsTest, OneFileNeedsNoIndex) {
  Save(kWeightsFile, {{"x", at::ones({2})}});
  ORDO_EXPECT_OK(ReadWeights(files_, folder_.path()).status());
}

TEST_F(WeightsTest, WithoutWeightsTheFileIsNamed) {
  EXPECT_THAT(ReadWeights(files_, folder_.path()).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(kWeightsFile)));
}

TEST_F(WeightsTest, AnIndexThatIsWrongIsNamed) {
  Save("a.safetensors", {{"x", at::ones({2})}, {"y", at::ones({2})}});
  SaveIndex("[");
  ExpectDamaged(kIndexFile);
  SaveIndex(R"({"weight_map": {}})");
  ExpectDamaged("weight_map is empty");
  SaveIndex(R"({"weight_map": {"x": "../a.safetensors"}})");
  ExpectDamaged("the file of 'x'");
  SaveIndex(R"({"weight_map": {"x": 3}})");
  ExpectDamaged("the file of 'x'");
  SaveIndex(R"({"weight_map": {"x": "a.safetensors"}})");
  ExpectDamaged("tensor 'y' is not in");
  SaveIndex(R"({"weight_map": {"x": "a.safetensors", "y": "a.safetensors",
                               "z": "a.safetensors"}})");
  ExpectDamaged("tensor 'z' is missing");
}

}  // namespace
}  // namespace ordo::model::formats
