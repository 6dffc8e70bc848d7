#include "model/text/tokenizers/sentence_piece/library.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/sentence_piece/load.h"

// The border; what stands behind it is used in train_test.cc and
// sentence_piece_tokenizer_test.cc.

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

using ::testing::HasSubstr;

constexpr char kPath[] =
    "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so";

Sink To(std::string* text) {
  return {[](void* to, Bytes bytes) {
            static_cast<std::string*>(to)->append(bytes.data, bytes.size);
          },
          text};
}

TEST(Library, SaysWhyItRefuses) {
  const auto library = LoadLibrary(kPath);
  ASSERT_TRUE(library.ok()) << library.status();
  std::string error;
  EXPECT_EQ((*library)->load({"no model", 8}, To(&error)), nullptr);
  EXPECT_THAT(error, HasSubstr("Internal"));

  const char* const options[] = {"vocab_size=1000", "no_such=1",
                                 "minloglevel=2"};
  const TextSource none = {[](void*, Bytes*) { return false; }, nullptr};
  std::string model;
  error.clear();
  EXPECT_FALSE((*library)->train({options, 3}, none, To(&model), To(&error)));
  EXPECT_THAT(error, HasSubstr("no_such"));
  EXPECT_EQ(model, "");
}

TEST(Library, LivesBesideThisProgramsProtocolBuffers) {
  google::protobuf::Struct before;
  (*before.mutable_fields())["a"].set_string_value("b");
  const auto library = LoadLibrary(kPath);
  ASSERT_TRUE(library.ok()) << library.status();
  // An empty message is one; it is no model, since it has no pieces.
  std::string error;
  EXPECT_EQ((*library)->load({"", 0}, To(&error)), nullptr);
  google::protobuf::Struct after;
  ASSERT_TRUE(after.ParseFromString(before.SerializeAsString()));
  EXPECT_EQ(after.fields().at("a").string_value(), "b");
}

}  // namespace
}  // namespace ordo::model::text::tokenizers::sentence_piece
