#include "services/spec/single_job.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ::testing::ElementsAre;
using Violations = std::vector<base::FieldViolation>;

TEST(SingleJobTest, WhatManyJobsHaveIsRefused) {
  JobSpec spec;
  spec.set_kind(JobSpec::BENCHMARK);
  spec.mutable_sweep();
  Violations violations;
  ResolveSingleJob(&spec, &violations);
  EXPECT_THAT(violations, ElementsAre(base::FieldViolation{
                              "sweep", "is for kind: sweep; leave it out"}));
}

}  // namespace
}  // namespace ordo::services::spec
