#include "model/training/safetensors.h"

#include <cstring>
#include <string>

#include <ATen/ATen.h>

#include "absl/status/status.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TensorMap Example() {
  TensorMap tensors;
  tensors["b.weight"] = at::arange(6, at::kFloat).view({2, 3});
  tensors["a.weight"] = at::full({1}, -0.5, at::kFloat);
  tensors["half"] = at::arange(3, at::kFloat).to(at::kBFloat16);
  tensors["long"] = at::arange(4, at::kLong);
  tensors["scalar"] = at::scalar_tensor(7.0, at::kDouble);
  tensors["empty"] = at::empty({0, 4}, at::kFloat);
  tensors["flag"] = at::ones({3}, at::kBool);
  return tensors;
}

std::string Written(const TensorMap& tensors) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  const std::string path = folder.Path("x.safetensors");
  ORDO_EXPECT_OK(WriteSafetensors(files, path, tensors));
  return base::ReadFile(files, path, 1 << 20).value();
}

std::string File(std::string header, const std::string& data) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

void ExpectDamaged(const std::string& bytes, const std::string& message) {
  EXPECT_THAT(
      ParseSafetensors(bytes, "/x/model.safetensors"),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("/x/model.safetensors"), HasSubstr(message))))
      << bytes;
}

TEST(Safetensors, GivesBackWhatWasWritten) {
  const TensorMap tensors = Example();
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap read,
                            ParseSafetensors(Written(tensors), "x"));
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(read.at(name), tensor)) << name;
  }
}

TEST(Safetensors, AreAPureFunctionOfTheTensorsInFrozenOrder) {
  EXPECT_EQ(Written(Example()), Written(Example()));
  TensorMap tensors;
  tensors["b"] = at::full({1}, 1.0, at::kFloat);
  tensors["a"] = at::full({1}, 2.0, at::kFloat);
  tensors["c"] = at::full({1}, 3, at::kLong);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},)"
      R"("c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})";
  const std::string bytes = Written(tensors);
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ(bytes.size() % 8, 0u);
}

TEST(Safetensors, WriteRowMajorWhateverTheStrides) {
  TensorMap tensors;
  tensors["t"] = at::arange(6, at::kFloat).view({2, 3}).t();
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap read,
                            ParseSafetensors(Written(tensors), "x"));
  EXPECT_TRUE(at::equal(read.at("t"), tensors["t"]));
  EXPECT_TRUE(read.at("t").is_contiguous());
}

TEST(Safetensors, RefuseATypeWithoutAName) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  EXPECT_THAT(WriteSafetensors(files, folder.Path("x"),
                               {{"z", at::zeros({2}, at::kComplexFloat)}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'z'")));
}

TEST(Safetensors, AnyTruncationIsDataLoss) {
  const std::string bytes = Written(Example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ParseSafetensors(bytes.substr(0, size), "x"),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
  ExpectDamaged(bytes + "x", "the file has");
}

TEST(Safetensors, AFlippedHeaderByteNeverPassesAsTheSameTensors) {
  const std::string bytes = Written(Example());
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), 8);
  const size_t metadata_end = bytes.find('}');
  for (size_t place = 0; place < 8 + header_bytes; ++place) {
    // What can change without harm: blanks that pad the header.
    if (bytes[place] == ' ') continue;
    for (const int flip : {1, 32, 128}) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ flip);
      const auto read = ParseSafetensors(damaged, "x");
      if (!read.ok()) {
        EXPECT_THAT(read, StatusIs(absl::StatusCode::kDataLoss));
        continue;
      }
      bool same = read->size() == Example().size();
      for (const auto& [name, tensor] : Example()) {
        const auto found = read->find(name);
        same = same && found != read->end() &&
               found->second.scalar_type() == tensor.scalar_type() &&
               found->second.sizes() == tensor.sizes() &&
               at::equal(found->second, tensor);
      }
      // What the metadata says has no part in the tensors.
      if (place < metadata_end && same) continue;
      EXPECT_FALSE(same) << "byte " << place << " flipped by " << flip;
    }
  }
}

TEST(Safetensors, KeepEveryTypeThatModelsHave) {
  TensorMap tensors;
  for (const auto type :
       {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt,
        at::kShort, at::kChar, at::kByte, at::kBool}) {
    tensors[c10::toString(type)] = at::arange(3, at::kLong).to(type);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap read,
                            ParseSafetensors(Written(tensors), "x"));
  ASSERT_EQ(read.size(), 10u);
  for (const auto& [name, tensor] : tensors) {
    EXPECT_TRUE(at::equal(read.at(name), tensor)) << name;
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
  }
}

TEST(Safetensors, RefuseOtherTypesOfTheFormatByName) {
  for (const std::string type :
       {"U16", "U32", "U64", "C64", "F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ",
        "F8_E5M2FNUZ", "F8_E8M0", "F4", "F6_E2M3", "F6_E3M2"}) {
    const std::string header =
        R"({"a":{"dtype":")" + type + R"(","shape":[0],"data_offsets":[0,0]}})";
    EXPECT_THAT(ParseSafetensors(File(header, ""), "/x/model.safetensors"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("/x/model.safetensors"),
                               HasSubstr("'a': dtype " + type + " is not"),
                               HasSubstr("convert it to one of F64, "))));
  }
}

TEST(Safetensors, NameWhatIsWrongWithAHeader) {
  const std::string f32 = R"("dtype":"F32","shape":[1],"data_offsets":)";
  ExpectDamaged(File(" {}", ""), "does not begin");
  ExpectDamaged(File("{", ""), "not JSON");
  ExpectDamaged(File("{} x", ""), "not JSON");
  ExpectDamaged(
      File(R"({"a":{)" + f32 + R"([0,4]},"a":{)" + f32 + "[4,8]}}", "12345678"),
      "'a' is there twice");
  ExpectDamaged(
      File(R"({"a":{)" + f32 + R"([0,4]},"b":{)" + f32 + "[0,4]}}", "1234"),
      "hole or overlap");
  ExpectDamaged(File(R"({"a":{)" + f32 + R"([0,4]},"b":{)" + f32 + "[8,12]}}",
                     "123456789012"),
                "hole or overlap");
  ExpectDamaged(File(R"({"a":{)" + f32 + "[0,8]}}", "12345678"), "do not fit");
  ExpectDamaged(File(R"({"a":{)" + f32 + "[4,0]}}", ""), "do not fit");
  ExpectDamaged(
      File(R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", "1234"),
      "dtype F33 is not known");
  ExpectDamaged(
      File(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
           "1234"),
      "shape is not");
  ExpectDamaged(File(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
                     R"("data_offsets":[0,0]}})",
                     ""),
                "do not fit");
  ExpectDamaged(File(R"({"a":{"dtype":"F32","shape":[0,4611686018427387904,)"
                     R"(4611686018427387904],"data_offsets":[0,0]}})",
                     ""),
                "do not fit");
  ExpectDamaged(File(R"({"a":5})", ""), "needs dtype");
  ExpectDamaged(File(R"({"__metadata__":5})", ""), "__metadata__");
  ExpectDamaged(File(R"({"__metadata__":{"format":5}})", ""), "__metadata__");
}

TEST(Safetensors, AcceptMetadataAndNoTensors) {
  ORDO_EXPECT_OK(
      ParseSafetensors(File(R"({"__metadata__":{"format":"pt"}})", ""), "x"));
  ORDO_EXPECT_OK(ParseSafetensors(File("{}", ""), "x"));
}

TEST(Safetensors, AMissingFileIsNotFound) {
  base::PosixFilesystem files;
  EXPECT_THAT(ReadSafetensors(files, "/nonexistent/model.safetensors"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("/nonexistent/model.safetensors")));
}

}  // namespace
}  // namespace ordo::model::training
