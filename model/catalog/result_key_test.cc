#include "model/catalog/result_key.h"

#include <string>

#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;
using ordo::training::v1::Evaluation;
using ordo::training::v1::ResultKey;

class ResultKeyTest : public ::testing::Test {
 protected:
  ResultKeyTest() {
    evaluation_.set_task("flip_flop");
    evaluation_.set_seed(7);
    evaluation_.set_kernel("reference");
    auto& params = *evaluation_.mutable_params();
    params["rate"].set_number_value(0.1);
    params["flag"].set_bool_value(true);
    params["text"].set_string_value("two\nlines");
    auto& lengths = *params["lengths"].mutable_list_value();
    lengths.add_values()->set_number_value(64);
    lengths.add_values()->set_string_value("2x");
    encoding_.set_name("per_layer");
    Component& yarn = *encoding_.add_with();
    yarn.set_name("yarn");
    (*yarn.mutable_params())["factor"].set_number_value(8);
    encoding_.add_with()->set_name("none");
  }

  ResultKey Key() const {
    ResultKey key = QuestionOf({manifest_, evaluation_, &encoding_, device_});
    key.set_task_version(2);
    key.set_precision("bf16");
    key.set_data_fingerprint(fingerprint_);
    return key;
  }

  std::string manifest_ =
      "abababababababababababababababababababababababababababababababab";
  std::string fingerprint_ =
      "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";
  Evaluation evaluation_;
  Component encoding_;
  std::string device_ = "cuda";
};

// Results that are stored are found by these: a change makes all of them be
// evaluated again. They were computed
// apart, over the texts that stand for these messages.
TEST_F(ResultKeyTest, DigestsAreForEver) {
  EXPECT_EQ(QuestionDigest(Key()),
            "a0055547a71028ec974a2fc9c8c28c644569cc1ddf80c9865c2b63720c6138bb");
  EXPECT_EQ(KeyDigest(Key()),
            "c05b009495f456cab79c512db314b8436b3ebe0a5c1b94da8cb9fe1f34c0c1e6");
  Evaluation plain;
  plain.set_task("flip_flop");
  plain.set_seed(1);
  const ResultKey key = QuestionOf({manifest_, plain, nullptr, ""});
  EXPECT_EQ(QuestionDigest(key),
            "cd0567df07c7e4c4096431d952f6ff0b4b27a8215bbef986fe3993c0534cf85a");
  EXPECT_EQ(KeyDigest(key),
            "25c8cd804546a4417dae411beefbaf50c02774636abbea17f25bb024515f1f7a");
}

TEST_F(ResultKeyTest, WhatIsCalledOtherwiseIsTheSameQuestion) {
  const std::string before = QuestionDigest(Key());
  evaluation_.set_name("again");
  evaluation_.set_at("end");
  EXPECT_EQ(QuestionDigest(Key()), before);
}

TEST_F(ResultKeyTest, NoDeviceIsACpu) {
  device_ = "";
  const std::string before = KeyDigest(Key());
  device_ = "cpu";
  EXPECT_EQ(KeyDigest(Key()), before);
}

TEST_F(ResultKeyTest, WhateverIsAskedOtherwiseIsAnotherQuestion) {
  const std::string before = QuestionDigest(Key());
  const auto is_other = [&](const auto& change) {
    const Evaluation evaluation = evaluation_;
    const Component encoding = encoding_;
    const std::string manifest = manifest_;
    const std::string device = device_;
    change();
    const bool is = QuestionDigest(Key()) != before;
    evaluation_ = evaluation;
    encoding_ = encoding;
    manifest_ = manifest;
    device_ = device;
    return is;
  };
  auto& params = *evaluation_.mutable_params();
  EXPECT_TRUE(is_other([&] { manifest_.back() = 'c'; }));
  EXPECT_TRUE(is_other([&] { evaluation_.set_task("counting"); }));
  EXPECT_TRUE(is_other([&] { evaluation_.set_seed(8); }));
  EXPECT_TRUE(is_other([&] { evaluation_.clear_kernel(); }));
  EXPECT_TRUE(is_other([&] { params["rate"].set_number_value(0.2); }));
  EXPECT_TRUE(is_other([&] { params["flag"].set_bool_value(false); }));
  EXPECT_TRUE(is_other([&] { params["text"].set_string_value("two"); }));
  EXPECT_TRUE(is_other([&] { params.erase("text"); }));
  // A number is no text of it.
  EXPECT_TRUE(is_other([&] { params["rate"].set_string_value("0.1"); }));
  EXPECT_TRUE(is_other([&] {
    params["lengths"].mutable_list_value()->mutable_values()->SwapElements(0,
                                                                           1);
  }));
  EXPECT_TRUE(is_other([&] { encoding_.mutable_with()->SwapElements(0, 1); }));
  EXPECT_TRUE(is_other([&] { encoding_.clear_with(); }));
  EXPECT_TRUE(is_other([&] { device_ = "cpu"; }));
  EXPECT_FALSE(is_other([] {}));
}

TEST_F(ResultKeyTest, TheAnswerTellsTheRestOfTheKey) {
  const std::string question = QuestionDigest(Key());
  const std::string key = KeyDigest(Key());
  ResultKey other = Key();
  other.set_task_version(3);
  EXPECT_NE(KeyDigest(other), key);
  other = Key();
  other.set_precision("fp32");
  EXPECT_NE(KeyDigest(other), key);
  other = Key();
  other.set_data_fingerprint("");
  EXPECT_NE(KeyDigest(other), key);
  EXPECT_EQ(QuestionDigest(other), question);
}

// Two devices of a kind may have different ones.
TEST_F(ResultKeyTest, TheKernelThatNobodyNamedIsPartOfTheAnswer) {
  evaluation_.clear_kernel();
  const std::string question = QuestionDigest(Key());
  const auto with = [this](const std::string& kernels) {
    ResultKey key = Key();
    key.set_kernel(BestOf(kernels));
    return key;
  };
  EXPECT_EQ(KeyDigest(with("")), KeyDigest(Key()));
  EXPECT_NE(KeyDigest(with("a")), KeyDigest(Key()));
  EXPECT_NE(KeyDigest(with("a")), KeyDigest(with("b a")));
  EXPECT_EQ(KeyDigest(with("b a")), KeyDigest(with("b a")));
  EXPECT_EQ(QuestionDigest(with("b a")), question);
  evaluation_.set_kernel("a");
  EXPECT_NE(KeyDigest(with("a")), KeyDigest(Key()));
}

TEST(FilesDigestTest, CountsWhatFilesAreAndNotTheirOrder) {
  google::protobuf::RepeatedPtrField<ordo::training::v1::FileInfo> files;
  for (const char* path : {"result.json", "items.jsonl"}) {
    auto& file = *files.Add();
    file.set_path(path);
    file.set_size_bytes(3);
    file.set_sha256(std::string("sha of ") + path);
  }
  const std::string before = FilesDigest(files);
  files.SwapElements(0, 1);
  EXPECT_EQ(FilesDigest(files), before);
  files.Mutable(0)->set_size_bytes(4);
  EXPECT_NE(FilesDigest(files), before);
}

TEST(EvaluationPrecisionTest, IsThatOfTheDevice) {
  EXPECT_EQ(EvaluationPrecision("cpu"), "fp32");
  EXPECT_EQ(EvaluationPrecision("cuda"), "bf16");
}

}  // namespace
}  // namespace ordo::model::catalog
