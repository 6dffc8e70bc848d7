#include "model/encodings/registry.h"

#include <algorithm>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::ordo::training::v1::Component;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RegistryTest, CatalogueAndRegistryNameTheSameEncodings) {
  std::vector<std::string> in_catalogue, in_registry;
  for (const auto* entry : catalog::EntriesOf(catalog::Kind::kEncoding)) {
    in_catalogue.push_back(entry->name);
  }
  for (const Row& row : Registry()) in_registry.push_back(row.name);
  EXPECT_EQ(in_registry, in_catalogue);
}

TEST(RegistryTest, EveryChoiceAndSwitchOfTheCatalogueCanBeMade) {
  for (const auto* entry : catalog::EntriesOf(catalog::Kind::kEncoding)) {
    for (const catalog::Param& param : entry->params) {
      std::vector<google::protobuf::Value> values;
      for (const std::string& choice : param.choices) {
        values.emplace_back().set_string_value(choice);
      }
      if (param.type == catalog::ParamType::kBool) {
        values.emplace_back().set_bool_value(true);
        values.emplace_back().set_bool_value(false);
      }
      for (const google::protobuf::Value& value : values) {
        Component component = testing::Simplest(entry->name);
        (*component.mutable_params())[param.name] = value;
        parameters::ParameterSet parameters({});
        EXPECT_THAT(Make(component, {2, 8, 2}, &parameters), IsOk())
            << component.DebugString();
      }
    }
  }
}

TEST(RegistryTest, EveryCombinationOfTheCatalogueCanBeMade) {
  for (const auto* entry : catalog::EntriesOf(catalog::Kind::kEncoding)) {
    for (const std::string& with : entry->with) {
      Component component;
      component.set_name(entry->name);
      for (int i = 0; i < std::max(1, entry->min_with); ++i) {
        *component.add_with() = testing::Simplest(with);
      }
      parameters::ParameterSet parameters({});
      EXPECT_THAT(Make(component, {2, 8, 2}, &parameters), IsOk())
          << component.DebugString();
    }
  }
}

TEST(RegistryTest, AllThatIsWrongIsNamed) {
  Component component;
  component.set_name("rope");
  (*component.mutable_params())["base"].set_bool_value(true);
  (*component.mutable_params())["bse"].set_number_value(1);
  parameters::ParameterSet parameters({});
  EXPECT_THAT(Make(component, {2, 8, 2}, &parameters),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("encoding.params.base"),
                             HasSubstr("encoding.params.bse"))));
}

TEST(RegistryTest, AnOddNumberOfTurningChannelsIsRefused) {
  Component rope;
  rope.set_name("rope");
  (*rope.mutable_params())["partial"].set_number_value(0.75);
  Component tape;
  tape.set_name("tape");
  *tape.add_with() = rope;
  parameters::ParameterSet parameters({});
  // Three of four channels.
  EXPECT_THAT(Make(rope, {2, 8, 2}, &parameters),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.params.partial")));
  EXPECT_THAT(Make(tape, {2, 8, 2}, &parameters),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.with[0].params.partial")));
}

}  // namespace
}  // namespace ordo::model::encodings
