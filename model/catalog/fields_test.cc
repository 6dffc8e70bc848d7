#include "model/catalog/fields.h"

#include <cstdint>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Resources;
using ::ordo::training::v1::Training;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FieldsTest, UnsetNumberTakesItsDefault) {
  Training training;
  Violations violations;
  EXPECT_TRUE(ResolveNumber({"batch_size", 1, 1e6, 64}, "training", &training,
                            &violations));
  EXPECT_EQ(training.batch_size(), 64);
  EXPECT_THAT(violations, IsEmpty());
}

TEST(FieldsTest, SetNumberInRangeStays) {
  Training training;
  training.set_steps(1);
  Violations violations;
  EXPECT_TRUE(ResolveNumber({"steps", 1, 1e9, {}}, "", &training, &violations));
  EXPECT_EQ(training.steps(), 1);
}

TEST(FieldsTest, OneWrongNumberOfSeveralKeepsNoOtherFromItsDefault) {
  Training training;
  training.set_steps(0);
  Violations violations;
  EXPECT_FALSE(
      ResolveNumbers({{"steps", 1, 1e9, {}}, {"batch_size", 1, 1e6, 64}},
                     "training", &training, &violations));
  EXPECT_EQ(violations.size(), 1u);
  EXPECT_EQ(training.batch_size(), 64);
}

TEST(FieldsTest, RequiredNumberIsMissed) {
  Training training;
  Violations violations;
  EXPECT_FALSE(
      ResolveNumber({"steps", 1, 1e9, {}}, "training", &training, &violations));
  EXPECT_THAT(violations, ElementsAre(base::FieldViolation{
                              "training.steps", "required; 1..1000000000"}));
}

TEST(FieldsTest, NumberOutOfRangeIsNamedWithRangeAndValue) {
  Training training;
  training.set_batch_size(0);
  Violations violations;
  EXPECT_FALSE(ResolveNumber({"batch_size", 1, 1e6, 64}, "training", &training,
                             &violations));
  EXPECT_THAT(violations,
              ElementsAre(base::FieldViolation{"training.batch_size",
                                               "must be 1..1000000, is 0"}));
}

TEST(FieldsTest, ARequestForTheDefaultIsLeftOut) {
  const NumberField devices{"devices", 1, 64, 1};
  Resources resources;
  Violations violations;
  EXPECT_TRUE(ResolveRequest(devices, "", &resources, &violations));
  EXPECT_FALSE(resources.has_devices());
  resources.set_devices(1);
  EXPECT_TRUE(ResolveRequest(devices, "", &resources, &violations));
  EXPECT_FALSE(resources.has_devices());
  EXPECT_THAT(violations, IsEmpty());
}

TEST(FieldsTest, ARequestForMoreThanTheDefaultIsCheckedAndKept) {
  const NumberField devices{"devices", 1, 64, 1};
  Resources resources;
  Violations violations;
  resources.set_devices(2);
  EXPECT_TRUE(ResolveRequest(devices, "", &resources, &violations));
  EXPECT_EQ(resources.devices(), 2);
  resources.set_devices(65);
  EXPECT_FALSE(ResolveRequest(devices, "", &resources, &violations));
  EXPECT_THAT(violations, ElementsAre(base::FieldViolation{
                              "devices", "must be 1..64, is 65"}));
}

TEST(FieldsTest, LargeBoundsAreToldInFull) {
  Resources resources;
  resources.set_memory_bytes(-1);
  Violations violations;
  constexpr double kMax = int64_t{1} << 50;
  EXPECT_FALSE(
      ResolveNumber({"memory_bytes", 0, kMax, 0}, "", &resources, &violations));
  EXPECT_THAT(violations,
              ElementsAre(base::FieldViolation{
                  "memory_bytes", "must be 0..1125899906842624, is -1"}));
}

TEST(FieldsTest, OpenBoundsAreNotValidThemselves) {
  const NumberField rate{"learning_rate", 0, 10, 1e-3, true};
  const NumberField beta{"beta1", 0, 1, 0.9, false, true};
  Training training;
  training.set_learning_rate(0);
  training.set_beta1(1);
  Violations violations;
  EXPECT_FALSE(ResolveNumber(rate, "", &training, &violations));
  EXPECT_FALSE(ResolveNumber(beta, "", &training, &violations));
  EXPECT_THAT(
      violations,
      ElementsAre(
          base::FieldViolation{"learning_rate", "must be > 0 and <= 10, is 0"},
          base::FieldViolation{"beta1", "must be >= 0 and < 1, is 1"}));
  training.set_learning_rate(10);
  training.set_beta1(0);
  EXPECT_TRUE(ResolveNumber(rate, "", &training, &violations));
  EXPECT_TRUE(ResolveNumber(beta, "", &training, &violations));
}

TEST(FieldsTest, NotANumberAndInfinityAreInNoRange) {
  Training training;
  Violations violations;
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    training.set_learning_rate(value);
    EXPECT_FALSE(ResolveNumber({"learning_rate", 0, 10, 1e-3, true}, "",
                               &training, &violations));
  }
}

TEST(FieldsTest, UnsetChoiceIsTheFirst) {
  Resources resources;
  Violations violations;
  EXPECT_TRUE(
      ResolveChoice({"device", {"cpu", "cuda"}}, "", &resources, &violations));
  EXPECT_EQ(resources.device(), "cpu");
}

TEST(FieldsTest, UnknownChoiceIsToldTheNearest) {
  Resources resources;
  resources.set_device("cudda");
  Violations violations;
  EXPECT_FALSE(ResolveChoice({"device", {"cpu", "cuda"}}, "resources",
                             &resources, &violations));
  EXPECT_THAT(
      violations,
      ElementsAre(base::FieldViolation{
          "resources.device",
          "must be one of cpu, cuda, is 'cudda'; did you mean 'cuda'?"}));
}

TEST(FieldsTest, ASynonymIsToldItsChoice) {
  Resources resources;
  resources.set_device("gpu");
  Violations violations;
  EXPECT_FALSE(ResolveChoice({"device", {"cpu", "cuda"}, {"gpu", "cuda"}},
                             "resources", &resources, &violations));
  EXPECT_THAT(violations,
              ElementsAre(base::FieldViolation{
                  "resources.device",
                  "must be one of cpu, cuda, is 'gpu'; did you mean 'cuda'?"}));
}

TEST(FieldsTest, IdsAreDnsLabels) {
  EXPECT_TRUE(IsId("a"));
  EXPECT_TRUE(IsId("addition-rope-2"));
  EXPECT_TRUE(IsId(std::string(63, 'a')));
  for (const char* bad : {"", "A", "1a", "-a", "a-", "a_b", "a b", "a/b", "a.b",
                          "\xc3\xa4", "..", "a\n"}) {
    EXPECT_FALSE(IsId(bad)) << bad;
  }
  EXPECT_FALSE(IsId(std::string(64, 'a')));
}

}  // namespace
}  // namespace ordo::model::catalog
