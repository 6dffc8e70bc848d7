#include "scheduler/core/spec_table.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

SpecPtr MakeSpec(int seed, int cpus) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->mutable_training()->set_seed(seed);
  spec->mutable_resources()->set_cpus(cpus);
  return spec;
}

TEST(SpecTableTest, JobsThatAskAlikeShareWhatDecisionsNeed) {
  SpecTable table;
  const SpecHandlePtr first = table.Keep(MakeSpec(1, 2));
  const SpecHandlePtr second = table.Keep(MakeSpec(2, 2));
  const SpecHandlePtr third = table.Keep(MakeSpec(2, 3));
  EXPECT_EQ(&first->demand(), &second->demand());
  EXPECT_NE(&first->demand(), &third->demand());
  EXPECT_EQ(third->demand().shape.cpus, 3);
  EXPECT_EQ((*second->Get())->training().seed(), 2);
}

SpecPtr MakeLabelled(int cpus, const std::string& label) {
  jobs::v1::JobSpec spec = *MakeSpec(1, cpus);
  (*spec.mutable_labels())["study"] = label;
  return std::make_shared<const jobs::v1::JobSpec>(std::move(spec));
}

TEST(SpecTableTest, JobsThatAskAlikeShareTheirLabelsIfTheyHaveTheSame) {
  SpecTable table;
  const SpecHandlePtr first = table.Keep(MakeLabelled(1, "a"));
  const SpecHandlePtr second = table.Keep(MakeLabelled(1, "a"));
  const SpecHandlePtr other_label = table.Keep(MakeLabelled(1, "b"));
  const SpecHandlePtr other_demand = table.Keep(MakeLabelled(2, "a"));
  EXPECT_EQ(&first->labels(), &second->labels());
  EXPECT_EQ(other_label->labels().at("study"), "b");
  EXPECT_EQ(&other_label->demand(), &first->demand());
  EXPECT_EQ(other_demand->labels().at("study"), "a");
  EXPECT_EQ(other_demand->demand().shape.cpus, 2);
}

// Has no spec.
class NoSource : public SpecSource {
 public:
  absl::StatusOr<SpecPtr> ReadSpec(int64_t) override {
    return absl::DataLossError("it is not there");
  }
};

TEST(SpecTableTest, ASpecThatIsStoredLeavesMemory) {
  SpecTable table;
  const auto source = std::make_shared<NoSource>();
  const SpecHandlePtr kept = table.Keep(MakeSpec(1, 2));
  const SpecHandlePtr stored = table.KeepStored(*MakeSpec(1, 2), 5, source);
  EXPECT_EQ(&stored->demand(), &kept->demand());
  EXPECT_EQ(stored->IdIn(source.get()), 5);
  EXPECT_FALSE(stored->Get().ok());
}

TEST(SpecTableTest, EachFieldOfADemandTellsItFromAnother) {
  SpecTable table;
  const auto spec = std::make_shared<jobs::v1::JobSpec>();
  const SpecHandlePtr plain = table.Keep(spec);
  const auto differs = [&](auto change) {
    auto other = std::make_shared<jobs::v1::JobSpec>();
    change(other.get());
    return &table.Keep(other)->demand() != &plain->demand();
  };
  EXPECT_FALSE(differs([](jobs::v1::JobSpec*) {}));
  EXPECT_TRUE(differs([](jobs::v1::JobSpec* s) { s->set_queue("q"); }));
  EXPECT_TRUE(differs([](jobs::v1::JobSpec* s) {
    s->mutable_retry()->mutable_step_timeout()->set_seconds(5);
  }));
  EXPECT_TRUE(differs([](jobs::v1::JobSpec* s) {
    s->mutable_run_time_limit()->set_seconds(5);
  }));
  EXPECT_TRUE(differs([](jobs::v1::JobSpec* s) {
    s->mutable_queue_time_limit()->set_seconds(5);
  }));
  EXPECT_TRUE(differs(
      [](jobs::v1::JobSpec* s) { s->mutable_checkpoint()->set_keep(5); }));
  EXPECT_TRUE(differs(
      [](jobs::v1::JobSpec* s) { s->add_evaluations()->set_name("e"); }));
}

TEST(SpecTableTest, NothingIsRememberedForEverOfWhatNobodyAsksFor) {
  SpecTable table;
  const SpecHandlePtr kept = table.Keep(MakeSpec(1, 1));
  for (int i = 1; i <= 5000; ++i) table.Keep(MakeSpec(1, i));
  EXPECT_LE(table.size(), 1024u);
  EXPECT_EQ(&table.Keep(MakeSpec(2, 1))->demand(), &kept->demand());
}

}  // namespace
}  // namespace ordo::scheduler::core
