#include "services/auth/rights.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "proto/ordo/access/v1/access.pb.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/data/v1/data.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"

namespace ordo::services::auth {
namespace {

using google::protobuf::FileDescriptor;

// The files that have services: whoever adds one adds its file here, which
// services/all_services_test.cc sees to.
std::set<const FileDescriptor*> Files() {
  return {ordo::access::v1::Token::descriptor()->file(),
          ordo::agent::v1::AnnounceRequest::descriptor()->file(),
          ordo::checkpoints::v1::Checkpoint::descriptor()->file(),
          ordo::data::v1::Data::descriptor()->file(),
          ordo::jobs::v1::Job::descriptor()->file(),
          ordo::queues::v1::Queue::descriptor()->file(),
          ordo::reports::v1::Report::descriptor()->file(),
          ordo::usage::v1::ReportUsageRequest::descriptor()->file(),
          ordo::workers::v1::Worker::descriptor()->file()};
}

std::set<std::string> OurMethods() {
  std::set<std::string> methods;
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->service_count(); ++i) {
      const auto* const service = file->service(i);
      for (int j = 0; j < service->method_count(); ++j) {
        methods.insert(service->full_name() + "/" + service->method(j)->name());
      }
    }
  }
  return methods;
}

TEST(RightsTest, EveryMethodHasARow) {
  for (const std::string& method : OurMethods()) {
    EXPECT_NE(FindRule(method), nullptr) << method;
  }
}

TEST(RightsTest, EachRowIsOfAMethodAndThereOnce) {
  const std::set<std::string> methods = OurMethods();
  std::set<std::string> seen;
  for (const MethodRule& rule : MethodRules()) {
    const std::string method = rule.method;
    EXPECT_TRUE(seen.insert(method).second) << method;
    if (method.rfind("grpc.", 0) == 0) continue;
    EXPECT_EQ(methods.count(method), 1u) << method;
  }
  EXPECT_EQ(FindRule("ordo.jobs.v1.JobsService/Fly"), nullptr);
}

// A viewer's call can change nothing, and what only reads is not written down.
TEST(RightsTest, WhatChangesAsksForMoreThanToRead) {
  for (const MethodRule& rule : MethodRules()) {
    const bool reads =
        rule.right == Right::kRead || rule.right == Right::kNobodyNeeded;
    if (reads) {
      EXPECT_FALSE(rule.changes) << rule.method;
    }
  }
  EXPECT_EQ(FindRule("ordo.jobs.v1.JobsService/CancelJob")->right,
            Right::kChangeOwn);
  EXPECT_EQ(FindRule("ordo.jobs.v1.JobsService/ReadLogs")->right, Right::kRead);
  EXPECT_EQ(FindRule("ordo.access.v1.AccessService/CreateToken")->right,
            Right::kAdminister);
}

}  // namespace
}  // namespace ordo::services::auth
