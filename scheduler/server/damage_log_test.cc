#include "scheduler/server/damage_log.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using ::testing::HasSubstr;

class DamageLogTest : public ::testing::Test {
 protected:
  base::MetricsRegistry registry_;
  SchedulerMetrics metrics_{registry_};
  DamageLog log_{metrics_};
};

TEST_F(DamageLogTest, EachIsToldOnce) {
  const absl::Status a = absl::DataLossError("table jobs, sequence 1");
  const absl::Status b = absl::DataLossError("table jobs, sequence 2");
  log_.Add({});
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 0\n"));
  log_.Add({a, b});
  log_.Add({b, a});
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 2\n"));
}

TEST_F(DamageLogTest, WhatMayBeReadLaterIsNoDamage) {
  log_.Add({absl::UnavailableError("the store is closed")});
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 0\n"));
}

TEST_F(DamageLogTest, WhatItRemembersIsBounded) {
  std::vector<absl::Status> damage;
  for (size_t i = 0; i < DamageLog::kMaxKnown + 1; ++i) {
    damage.push_back(absl::DataLossError(absl::StrCat("sequence ", i)));
  }
  log_.Add(damage);
  log_.Add(damage);
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 1000\n"));
}

}  // namespace
}  // namespace ordo::scheduler::server
