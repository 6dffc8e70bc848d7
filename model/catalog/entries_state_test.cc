#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Violations = std::vector<base::FieldViolation>;

struct Setting {
  std::string name;
  google::protobuf::Value value;

  Setting(std::string key, const char* text) : name(std::move(key)) {
    value.set_string_value(text);
  }
  Setting(std::string key, bool on) : name(std::move(key)) {
    value.set_bool_value(on);
  }
  Setting(std::string key, int number) : name(std::move(key)) {
    value.set_number_value(number);
  }
};

Component Resolved(const std::string& name,
                   const std::vector<Setting>& settings = {},
                   const std::vector<Component>& with = {}) {
  Component component;
  component.set_name(name);
  for (const Setting& setting : settings) {
    (*component.mutable_params())[setting.name] = setting.value;
  }
  for (const Component& other : with) *component.add_with() = other;
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return component;
}

Component Tape(const std::vector<Setting>& settings = {}) {
  return Resolved("tape", settings);
}

// The sizes of the paper's smaller model.
ModelShape Paper() {
  ModelShape shape;
  shape.layers = 12;
  shape.width = 768;
  shape.heads = 12;
  return shape;
}

int64_t Count(const std::vector<Setting>& settings) {
  return CountParameters(Tape(settings), Paper());
}

// 38160 a layer, in all but the last of twelve.
TEST(EntriesStateTest, TapeCountsAsThePaperDoes) {
  EXPECT_EQ(Count({}), 11 * 38160);
  EXPECT_EQ(Count({{"reading", "released"}}), 12 * 38160);
  EXPECT_EQ(Count({{"attention_update", false}}), 11 * (38160 - 144));
  EXPECT_EQ(Count({{"mlp_update", false}}), 11 * 144);
  EXPECT_EQ(Count({{"mlp_update", false}, {"attention_update", false}}), 0);
}

// Table 3: the whole model, in units of 2^20.
TEST(EntriesStateTest, TheModelOfTableThreeHasItsParameters) {
  constexpr int64_t kLayer = 4 * 768 * 768 + 3 * 768 * 3072 + 2 * 768;
  constexpr int64_t kRope = 2 * 32000 * 768 + 12 * kLayer + 768;
  const auto printed = [](int64_t count) {
    return std::round(static_cast<double>(count) / (1 << 20) * 100) / 100;
  };
  EXPECT_EQ(printed(kRope), 154.89);
  EXPECT_EQ(printed(kRope + Count({})), 155.29);
  EXPECT_EQ(printed(kRope + Count({{"reading", "released"}})), 155.33);
}

TEST(EntriesStateTest, VariantsOfTapeCountTheirMatrices) {
  EXPECT_EQ(Count({{"equivariant", false}, {"reading", "released"}}),
            12 * 110736);
  EXPECT_EQ(Count({{"equivariant", false}}), 11 * 110736);
  EXPECT_EQ(Count({{"embedding", "vector"}}),
            11 * (64 * 64 + 48 * (2 * 64 + 768)));
  EXPECT_EQ(Count({{"mix_axis", "L"}, {"block_rows", 4}}),
            11 * (4 * 4 + 48 * (2 * 4 + 768)));
  EXPECT_EQ(Count({{"block_rows", 4}, {"block_columns", 6}}), 11 * 38160);
  EXPECT_EQ(Count({{"start", "learned"}, {"max_length", 1024}}),
            11 * 38160 + 1024 * 64);
  EXPECT_EQ(Count({{"start", "learned"},
                   {"max_length", 10},
                   {"embedding", "vector"},
                   {"mlp_update", false},
                   {"attention_update", false}}),
            10 * 2 * 64);
}

TEST(EntriesStateTest, TheReleasedTapeOverYarnTrainsItsFrequencies) {
  const auto count = [](const char* reading, const char* start) {
    return CountParameters(
        Resolved("tape", {{"reading", reading}}, {Resolved(start)}), Paper());
  };
  EXPECT_EQ(count("released", "yarn"), 12 * 38160 + 64 / 2);
  EXPECT_EQ(count("released", "linear"), 12 * 38160);
  EXPECT_EQ(count("canonical", "yarn"), 11 * 38160);
}

// The sweep of TAPE-2, table 7: added parameters in units of 2^20.
TEST(EntriesStateTest, TheInnerWidthsOfThePapersSweepCountAsPrinted) {
  const auto added = [](int position_size) {
    const auto count = static_cast<double>(
        Count({{"reading", "released"}, {"position_size", position_size}}));
    return std::round(count / (1 << 20) * 100) / 100;
  };
  EXPECT_EQ(added(12), 0.11);
  EXPECT_EQ(added(24), 0.22);
  EXPECT_EQ(added(48), 0.44);
}

TEST(EntriesStateTest, OnlyTapesLearnedStartHasALimit) {
  EXPECT_EQ(MaxLength(Tape()), 0);
  EXPECT_EQ(MaxLength(Tape({{"start", "learned"}, {"max_length", 300}})), 300);
  // Positions of training lie further out.
  EXPECT_EQ(
      MaxLength(Tape(
          {{"start", "learned"}, {"max_length", 300}, {"random_offset", 100}})),
      200);
}

TEST(EntriesStateTest, TapeIsRelativeWhereAPhasePassesThrough) {
  EXPECT_TRUE(IsRelative(Tape()));
  EXPECT_TRUE(IsRelative(Tape({{"reading", "released"}})));
  EXPECT_TRUE(IsRelative(Tape({{"mix_axis", "L"}})));
  EXPECT_TRUE(IsRelative(Tape({{"start", "random_fourier"}})));
  EXPECT_FALSE(IsRelative(Tape({{"equivariant", false}})));
  EXPECT_FALSE(IsRelative(Tape({{"embedding", "vector"}})));
  EXPECT_FALSE(IsRelative(Tape({{"start", "learned"}})));
  // Nothing is more relative than what is with it.
  EXPECT_FALSE(IsRelative(Resolved("rope_bias", {}, {Resolved("rope_2d")})));
}

std::vector<std::string> Refused(const Component& component,
                                 const ModelShape& shape = Paper()) {
  Violations violations;
  CheckShape("encoding", component, shape, &violations);
  std::vector<std::string> texts;
  for (const auto& violation : violations) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(EntriesStateTest, TapeFitsThePapersModel) {
  EXPECT_THAT(Refused(Tape()), IsEmpty());
  EXPECT_THAT(Refused(Tape({{"mix_axis", "L"}, {"block_rows", 4}})), IsEmpty());
}

TEST(EntriesStateTest, ReleasedTapeNeedsAsManyKeyHeadsAsHeads) {
  ModelShape shape = Paper();
  shape.key_heads = 4;
  EXPECT_THAT(Refused(Tape(), shape), IsEmpty());
  EXPECT_THAT(Refused(Tape({{"reading", "released"}}), shape),
              ElementsAre(HasSubstr("encoding.params.reading: the released "
                                    "tape needs as many key heads as heads, "
                                    "has 4 for 12")));
}

TEST(EntriesStateTest, BlocksThatDoNotFitAreRefused) {
  EXPECT_THAT(Refused(Tape({{"mix_axis", "L"}, {"block_rows", 3}})),
              ElementsAre(HasSubstr(
                  "encoding.params.block_rows: is 3, of which the 64")));
  ModelShape odd = Paper();
  odd.width = 12 * 5;
  EXPECT_THAT(Refused(Tape(), odd), ElementsAre(HasSubstr("even")));
  EXPECT_THAT(Refused(Tape({{"block_columns", 3}})),
              ElementsAre(HasSubstr("encoding.params.block_columns: is 3")));
  EXPECT_THAT(Refused(Tape({{"block_columns", 3}, {"start", "learned"}})),
              IsEmpty());
}

TEST(EntriesStateTest, VariantsThatExcludeEachOtherAreRefused) {
  EXPECT_THAT(Refused(Tape({{"equivariant", false}, {"embedding", "vector"}})),
              ElementsAre(HasSubstr("encoding.params.equivariant")));
  EXPECT_THAT(Refused(Tape({{"equivariant", false}, {"mix_axis", "L"}})),
              ElementsAre(HasSubstr("encoding.params.equivariant")));
  EXPECT_THAT(Refused(Tape({{"embedding", "vector"}, {"block_rows", 4}})),
              ElementsAre(HasSubstr("encoding.params.embedding")));
  EXPECT_THAT(Refused(Tape({{"reading", "released"}, {"mix_axis", "L"}})),
              ElementsAre(HasSubstr("encoding.params.reading")));
}

TEST(EntriesStateTest, StartsThatAreNotReadAreRefused) {
  EXPECT_THAT(
      Refused(Resolved("tape", {{"start", "learned"}}, {Resolved("rope")})),
      ElementsAre(HasSubstr("encoding.with: is not read")));
  EXPECT_THAT(
      Refused(Tape(
          {{"start", "learned"}, {"max_length", 100}, {"random_offset", 100}})),
      ElementsAre(HasSubstr("encoding.params.random_offset: is 100")));
}

TEST(EntriesStateTest, TapeStartsFromTheRotaryEncodingsOfTheSpecOnly) {
  EXPECT_THAT(Find(Kind::kEncoding, "tape")->with,
              ElementsAre("linear", "ntk", "rope", "yarn"));
}

}  // namespace
}  // namespace ordo::model::catalog
