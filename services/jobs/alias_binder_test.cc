#include "services/jobs/alias_binder.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::jobs {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::JobSpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Violations = std::vector<base::FieldViolation>;

class AliasBinderTest : public ::testing::Test {
 protected:
  AliasBinderTest() {
    for (const char* job : {"a", "b"}) {
      Checkpoint checkpoint;
      checkpoint.set_name(NameOf(job));
      checkpoint.set_manifest_sha256(std::string("sha-") + job);
      scheduler_.PutCheckpoint(checkpoint);
    }
    Set("main", "a");
  }
  static std::string NameOf(const std::string& job) {
    return "jobs/" + job + "/checkpoints/20-1";
  }
  void Set(const std::string& alias, const std::string& job) {
    scheduler_.SetAlias({alias, NameOf(job)}, {}, [](const auto& set) {
      EXPECT_TRUE(set.ok()) << set.status();
    });
  }

  scheduler::testing::FakeScheduler scheduler_;
};

TEST_F(AliasBinderTest, PutsCheckpointsInThePlaceOfAliasesAndSaysSo) {
  JobSpec spec;
  spec.set_start_from("aliases/main");
  spec.mutable_model()->set_from("aliases/main");
  spec.add_checkpoints("jobs/c");
  spec.add_checkpoints("aliases/main");
  EXPECT_TRUE(NamesAnAlias(spec));
  Violations violations;
  AliasBinder(scheduler_).Bind(&spec, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_FALSE(NamesAnAlias(spec));
  EXPECT_EQ(spec.start_from(), NameOf("a"));
  EXPECT_EQ(spec.model().from(), NameOf("a"));
  EXPECT_THAT(spec.checkpoints(), ElementsAre("jobs/c", NameOf("a")));
  ASSERT_EQ(spec.bound_size(), 3);
  EXPECT_EQ(spec.bound(0).field(), "checkpoints[1]");
  EXPECT_EQ(spec.bound(1).field(), "start_from");
  EXPECT_EQ(spec.bound(2).field(), "model.from");
  for (const auto& bound : spec.bound()) {
    EXPECT_EQ(bound.alias(), "aliases/main");
    EXPECT_EQ(bound.checkpoint(), NameOf("a"));
    EXPECT_EQ(bound.manifest_sha256(), "sha-a");
  }
}

TEST_F(AliasBinderTest, WhatAGateComparesMayBeAliases) {
  Set("release", "b");
  JobSpec spec;
  spec.set_kind(JobSpec::GATE);
  spec.mutable_gate()->set_candidate("aliases/main");
  spec.mutable_gate()->set_baseline("aliases/release");
  EXPECT_TRUE(NamesAnAlias(spec));
  Violations violations;
  AliasBinder(scheduler_).Bind(&spec, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_FALSE(NamesAnAlias(spec));
  EXPECT_EQ(spec.gate().candidate(), NameOf("a"));
  EXPECT_EQ(spec.gate().baseline(), NameOf("b"));
  EXPECT_EQ(spec.gate().anchor(), "");
  ASSERT_EQ(spec.bound_size(), 2);
  EXPECT_EQ(spec.bound(0).field(), "gate.candidate");
  EXPECT_EQ(spec.bound(0).alias(), "aliases/main");
  EXPECT_EQ(spec.bound(1).field(), "gate.baseline");
  EXPECT_EQ(spec.bound(1).manifest_sha256(), "sha-b");

  // Each of the three is one alone.
  for (const char* field : {"candidate", "baseline", "anchor"}) {
    JobSpec one;
    auto& gate = *one.mutable_gate();
    (field[0] == 'c'   ? *gate.mutable_candidate()
     : field[0] == 'b' ? *gate.mutable_baseline()
                       : *gate.mutable_anchor()) = "aliases/mian";
    EXPECT_TRUE(NamesAnAlias(one)) << field;
    Violations unknown;
    AliasBinder(scheduler_).Bind(&one, &unknown);
    ASSERT_EQ(unknown.size(), 1u) << field;
    EXPECT_EQ(unknown[0].field, std::string("gate.") + field);
  }
}

TEST_F(AliasBinderTest, AnAliasNamesTheSameInAllSpecsOfACall) {
  AliasBinder binder(scheduler_);
  for (const char* job : {"a", "b"}) {
    Set("main", job);
    JobSpec spec;
    spec.set_start_from("aliases/main");
    Violations violations;
    binder.Bind(&spec, &violations);
    EXPECT_EQ(spec.start_from(), NameOf("a"));
  }
}

TEST_F(AliasBinderTest, AnUnknownAliasIsAViolationOfItsField) {
  JobSpec spec;
  spec.add_checkpoints("aliases/mian");
  Violations violations;
  AliasBinder(scheduler_).Bind(&spec, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "checkpoints[0]");
  EXPECT_THAT(violations[0].description, HasSubstr("did you mean 'main'?"));
  EXPECT_THAT(spec.bound(), IsEmpty());
}

TEST_F(AliasBinderTest, OtherSpecsStayAsTheyAre) {
  JobSpec spec;
  spec.set_kind(JobSpec::BENCHMARK);
  const std::string before = spec.SerializeAsString();
  EXPECT_FALSE(NamesAnAlias(spec));
  Violations violations;
  AliasBinder(scheduler_).Bind(&spec, &violations);
  EXPECT_EQ(spec.SerializeAsString(), before);
}

TEST_F(AliasBinderTest, WhatWasBoundBeforeIsFoundInTemplatesToo) {
  JobSpec sweep, compare, pipeline;
  sweep.mutable_sweep()->mutable_run()->add_bound();
  compare.mutable_compare()->mutable_run()->add_bound();
  pipeline.mutable_pipeline()->add_stages()->add_bound();
  JobSpec alone;
  alone.add_bound();
  for (JobSpec* spec : {&sweep, &compare, &pipeline, &alone}) {
    EXPECT_TRUE(HasBound(*spec));
    ClearBound(spec);
    EXPECT_FALSE(HasBound(*spec));
  }
}

}  // namespace
}  // namespace ordo::services::jobs
