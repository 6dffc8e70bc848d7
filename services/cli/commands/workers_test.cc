#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;

class WorkersTest : public testing::LoopbackCliTest {
 protected:
  WorkersTest() { PutWorker("w"); }

  workers::v1::Worker GetWorker() {
    return loopback_.scheduler().GetWorker("w").value();
  }
};

TEST_F(WorkersTest, CordonClosesAndUncordonOpens) {
  EXPECT_EQ(Run({"workers", "cordon", "w", "--reason", "fans"}), 0) << err();
  EXPECT_EQ(out(), "w cordoned\n");
  EXPECT_EQ(GetWorker().closed_reason(), "fans");
  EXPECT_EQ(Run({"workers", "uncordon", "workers/w"}), 0) << err();
  EXPECT_EQ(out(), "w open\n");
  EXPECT_FALSE(GetWorker().cordoned());
}

TEST_F(WorkersTest, DrainIsAtItsTimeOrNow) {
  const int64_t now = absl::ToUnixSeconds(clock_.Now());
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "2h"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("w drains at "));
  EXPECT_EQ(GetWorker().drain_time().seconds(), now + 7200);
  EXPECT_EQ(Run({"workers", "drain", "w"}), 0) << err();
  EXPECT_EQ(GetWorker().drain_time().seconds(), now);
  EXPECT_EQ(Run({"workers", "drain", "w", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"drain_time\":"));
}

TEST_F(WorkersTest, DrainAtATimeOfThePastIsRefused) {
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "1960-01-01 00:00"}), 2);
  EXPECT_THAT(err(), HasSubstr("is in the past"));
  EXPECT_FALSE(GetWorker().has_drain_time());
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "now"}), 0) << err();
  EXPECT_TRUE(GetWorker().has_drain_time());
}

TEST_F(WorkersTest, DrainOfACordonedWorkerSaysWhen) {
  EXPECT_EQ(Run({"workers", "cordon", "w"}), 0) << err();
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "2h"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("w cordoned, drains at "));
}

TEST_F(WorkersTest, ReleaseEndsTheQuarantineThatShowAndListTellOf) {
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.add_devices()->set_name("cuda:0");
  auto& quarantine = *worker.mutable_devices(0)->mutable_quarantine();
  quarantine.set_reason("it fell off the bus");
  quarantine.mutable_start_time()->set_seconds(1'700'000'000);
  loopback_.scheduler().PutWorker(worker);
  EXPECT_EQ(Run({"show", "workers/w"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("it fell off the bus; once it is mended: ordo "
                               "workers release w cuda:0"));
  EXPECT_EQ(Run({"list", "workers"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("ONLINE,QUARANTINE"));
  EXPECT_THAT(out(), HasSubstr("in quarantine: it fell off the bus"));
  EXPECT_EQ(Run({"workers", "release", "w", "cuda:0", "--reason", "new cable"}),
            0)
      << err();
  EXPECT_EQ(out(), "w cuda:0 released\n");
  EXPECT_FALSE(GetWorker().devices(0).has_quarantine());
  EXPECT_EQ(GetWorker().changes(0).reason(), "new cable");
}

TEST_F(WorkersTest, AReleaseOfADeviceThatIsFreeSaysSo) {
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.add_devices()->set_name("cuda:0");
  loopback_.scheduler().PutWorker(worker);
  EXPECT_EQ(Run({"workers", "cordon", "w"}), 0) << err();
  EXPECT_EQ(Run({"workers", "release", "w", "cuda:0"}), 0) << err();
  EXPECT_EQ(out(), "cuda:0 of w was not in quarantine\n");
  EXPECT_EQ(GetWorker().changes_size(), 1);
}

TEST_F(WorkersTest, ReleaseIsOfADevice) {
  EXPECT_EQ(Run({"workers", "release", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("which device?"));
  EXPECT_EQ(Run({"workers", "release", "w", "cuda:0"}), 2);
  EXPECT_THAT(err(), HasSubstr("no device cuda:0"));
}

TEST_F(WorkersTest, WhatCannotBeMeantIsBadInput) {
  EXPECT_EQ(Run({"workers", "cordn", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'cordon'?"));
  EXPECT_EQ(Run({"workers"}), 2);
  EXPECT_THAT(err(), HasSubstr("usage: ordo workers cordon|drain|uncordon"));
  EXPECT_THAT(err(), HasSubstr("ordo list workers"));
  EXPECT_EQ(Run({"workers", "list"}), 2);
  EXPECT_THAT(err(), HasSubstr("'ordo workers list' is no command"));
  EXPECT_EQ(Run({"workers", "cordon"}), 2);
  EXPECT_THAT(err(), HasSubstr("no worker is named"));
  EXPECT_EQ(Run({"workers", "cordon", "w", "v"}), 2);
  EXPECT_EQ(Run({"workers", "cordon", "w", "--at", "2h"}), 2);
  EXPECT_THAT(err(), HasSubstr("--at is for"));
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "soon"}), 2);
  EXPECT_EQ(Run({"workers", "cordon", "jobs/w"}), 2);
  EXPECT_EQ(Run({"workers", "cordon", "nosuch"}), 2);
  EXPECT_TRUE(GetWorker().changes().empty());
}

}  // namespace
}  // namespace ordo::services::cli
