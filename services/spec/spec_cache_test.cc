#include "services/spec/spec_cache.h"

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/text/proto_bytes.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "services/spec/resolve_job_spec.h"
#include "services/spec/single_job.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::util::MessageDifferencer;
using ordo::jobs::v1::JobSpec;

// `steps` tell specs apart.
JobSpec Spec(const std::string& name, int64_t steps) {
  JobSpec spec;
  spec.set_kind(JobSpec::TRAIN);
  spec.set_name(name);
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(steps);
  return spec;
}

void ExpectAsWithout(SpecCache& cache, const JobSpec& spec) {
  const auto cached = cache.Resolve(spec, base::DeterministicBytes(spec));
  auto direct = ResolveJobSpec(spec);
  ASSERT_EQ(cached.status(), direct.status());
  if (!direct.ok()) {
    EXPECT_EQ(base::FieldViolations(cached.status()).size(),
              base::FieldViolations(direct.status()).size());
    return;
  }
  EXPECT_EQ((*cached)->notices, NoticesOf(*direct));
  direct->clear_name();
  EXPECT_TRUE(MessageDifferencer::Equals(*(*cached)->spec, *direct));
}

TEST(SpecCacheTest, JobsThatDifferInTheirNamesAreResolvedOnce) {
  SpecCache cache;
  ExpectAsWithout(cache, Spec("a", 5));
  EXPECT_EQ(cache.size(), 1u);
  ExpectAsWithout(cache, Spec("b", 5));
  EXPECT_EQ(cache.size(), 1u);
  ExpectAsWithout(cache, Spec("c", 6));
  EXPECT_EQ(cache.size(), 2u);
}

TEST(SpecCacheTest, JobsThatDifferInTheirNamesShareOneSpec) {
  SpecCache cache;
  const auto resolve = [&cache](const std::string& name) {
    const JobSpec spec = Spec(name, 5);
    return *cache.Resolve(spec, base::DeterministicBytes(spec));
  };
  EXPECT_EQ(resolve("a")->spec, resolve("b")->spec);
}

TEST(SpecCacheTest, ABadNameIsAViolationOfAKnownSpecToo) {
  SpecCache cache;
  ExpectAsWithout(cache, Spec("a", 5));
  ExpectAsWithout(cache, Spec("", 5));
  ExpectAsWithout(cache, Spec("-A-", 5));
}

TEST(SpecCacheTest, WhatIsRefusedIsNotRemembered) {
  SpecCache cache;
  ExpectAsWithout(cache, Spec("a", -5));
  EXPECT_EQ(cache.size(), 0u);
}

TEST(SpecCacheTest, RemembersSoManyAndNoLongOnes) {
  SpecCache cache;
  for (size_t i = 1; i <= SpecCache::kMaxSpecs; ++i) {
    ExpectAsWithout(cache, Spec("a", static_cast<int64_t>(i)));
  }
  EXPECT_EQ(cache.size(), SpecCache::kMaxSpecs);
  ExpectAsWithout(cache, Spec("a", 1'000'000));
  EXPECT_EQ(cache.size(), 1u);

  JobSpec spec = Spec("a", 7);
  spec.set_kind(JobSpec::EVALUATE);
  spec.clear_encoding();
  spec.clear_data();
  spec.clear_training();
  spec.add_evaluations()->set_task("addition");
  for (int i = 0; i < kMaxCheckpoints; ++i) {
    spec.add_checkpoints(absl::StrCat("jobs/", std::string(60, 'x'), i % 10,
                                      "/checkpoints/", 1000000 + i, "-1"));
  }
  ASSERT_GT(spec.ByteSizeLong(), SpecCache::kMaxBytes);
  ExpectAsWithout(cache, spec);
  EXPECT_EQ(cache.size(), 1u);
}

}  // namespace
}  // namespace ordo::services::spec
