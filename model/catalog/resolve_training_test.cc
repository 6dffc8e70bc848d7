#include "model/catalog/resolve_training.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"
#include "model/catalog/testing/minimal_spec.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::ElementsAre;
using testing::FieldsOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Minimal;

TEST(ResolveTrainingTest, MicroBatchDividesTheBatch) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_batch_size(64);
                spec->mutable_training()->set_micro_batch_size(48);
              }),
              ElementsAre("training.micro_batch_size"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_batch_size(64);
                spec->mutable_training()->set_micro_batch_size(128);
              }),
              ElementsAre("training.micro_batch_size"));
  // Not divided by zero, and one mistake is one violation.
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_micro_batch_size(0);
              }),
              ElementsAre("training.micro_batch_size"));
}

TEST(ResolveTrainingTest, TrapezoidHasRoomForBothEnds) {
  const auto fractions = [](const char* schedule) {
    return [schedule](v1::TrainSpec* spec) {
      spec->mutable_training()->set_warmup_fraction(0.6);
      spec->mutable_training()->set_cooldown_fraction(0.6);
      spec->mutable_training()->set_schedule(schedule);
    };
  };
  EXPECT_THAT(FieldsOf(fractions("trapezoid")),
              ElementsAre("training.cooldown_fraction"));
  EXPECT_THAT(FieldsOf(fractions("cosine")), IsEmpty());
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_warmup_fraction(0.9);
              }),
              IsEmpty());
}

TEST(ResolveTrainingTest, RanksOfATrainingTaskShareABatchEvenly) {
  const auto ranks = [](int count, int micro_batch_size) {
    return [=](v1::TrainSpec* spec) {
      spec->mutable_resources()->set_ranks(count);
      if (micro_batch_size > 0) {
        spec->mutable_training()->set_micro_batch_size(micro_batch_size);
      }
    };
  };
  EXPECT_THAT(FieldsOf(ranks(4, 0)), IsEmpty());
  EXPECT_THAT(FieldsOf(ranks(4, 8)), IsEmpty());
  EXPECT_THAT(FieldsOf(ranks(4, 32)), ElementsAre("training.micro_batch_size"));
  EXPECT_THAT(FieldsOf(ranks(3, 0)), ElementsAre("training.micro_batch_size"));
  EXPECT_THAT(FieldsOf(ranks(0, 0)), ElementsAre("resources.ranks"));
  EXPECT_THAT(FieldsOf(ranks(1025, 0)), ElementsAre("resources.ranks"));
}

TEST(ResolveTrainingTest, PassesThatRanksCannotShareAreCounted) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_resources()->set_ranks(2);
  spec.mutable_training()->set_micro_batch_size(64);
  EXPECT_THAT(std::string(ResolveTrainSpec(spec).status().message()),
              HasSubstr("makes 1 pass of a batch of 64, which 2 ranks"));
}

TEST(ResolveTrainingTest, ARanksPassIsItsShareOfTheBatchByDefault) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_resources()->set_ranks(4);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->training().micro_batch_size(), 16);
}

}  // namespace
}  // namespace ordo::model::catalog
