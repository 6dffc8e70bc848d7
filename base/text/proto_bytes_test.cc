#include "base/text/proto_bytes.h"

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/type.pb.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(ProtoBytesTest, OrderInWhichAMapWasFilledDoesNotMatter) {
  google::protobuf::Struct up, down;
  for (int i = 0; i < 50; ++i) {
    (*up.mutable_fields())[std::to_string(i)].set_number_value(i);
    (*down.mutable_fields())[std::to_string(49 - i)].set_number_value(49 - i);
  }
  EXPECT_EQ(DeterministicBytes(up), DeterministicBytes(down));
  (*up.mutable_fields())["0"].set_number_value(1);
  EXPECT_NE(DeterministicBytes(up), DeterministicBytes(down));
}

TEST(ProtoBytesTest, WithoutAFieldIsAsIfItWereNotSet) {
  google::protobuf::Field field;
  field.set_kind(google::protobuf::Field::TYPE_BOOL);
  field.set_number(7);
  field.set_name("a name");
  field.set_json_name("b");
  google::protobuf::Field unnamed = field;
  unnamed.clear_name();
  EXPECT_EQ(WithoutField(DeterministicBytes(field),
                         google::protobuf::Field::kNameFieldNumber),
            DeterministicBytes(unnamed));
  EXPECT_EQ(WithoutField(DeterministicBytes(unnamed),
                         google::protobuf::Field::kNameFieldNumber),
            DeterministicBytes(unnamed));
  EXPECT_EQ(WithoutField("", 1), "");
}

}  // namespace
}  // namespace ordo::base
