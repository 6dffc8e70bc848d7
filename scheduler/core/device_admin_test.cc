#include "scheduler/core/device_admin.h"

#include <map>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using workers::v1::DeviceBlame;
using workers::v1::DeviceFault;
using workers::v1::Worker;

DeviceBlame Failure(const std::string& job, int attempt) {
  DeviceBlame blame;
  blame.set_code("DEVICE_ERROR");
  blame.set_job("jobs/" + job);
  blame.set_attempt(attempt);
  return blame;
}

DeviceFault Fault(const std::string& code, int64_t time, bool grave = false) {
  DeviceFault fault;
  fault.set_code(code);
  fault.set_message("its driver reported " + code);
  fault.mutable_time()->set_seconds(time);
  fault.set_grave(grave);
  return fault;
}

// The record of a worker w with a device cuda:0.
class DeviceAdminTest : public ::testing::Test {
 protected:
  void Blame(const std::string& job, int attempt) {
    admin_ = Blamed(admin_, At(), Failure(job, attempt));
  }
  void Tell(const std::vector<DeviceFault>& faults,
            const DeviceBlame& held = DeviceBlame()) {
    admin_ = Faulted(admin_, At(), {faults.begin(), faults.end()}, held);
  }
  void Release() {
    WorkerChange change;
    change.worker = "w";
    change.author.owner.set_user("ada");
    change.author.reason = "new cable";
    change.now = now_;
    admin_ = Released(admin_, "cuda:0", change);
  }
  DeviceMoment At() const { return {"w", "cuda:0", now_}; }
  bool IsIn() const { return QuarantinedIn(admin_).count("cuda:0") > 0; }
  const workers::v1::Device& device() const { return admin_->devices(0); }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  WorkerAdminPtr admin_;
};

TEST_F(DeviceAdminTest, ThreeFailuresInARowOfTwoJobsAreEnough) {
  Blame("a", 1);
  Blame("a", 2);
  EXPECT_FALSE(IsIn());
  Blame("b", 1);
  EXPECT_TRUE(IsIn());
  EXPECT_EQ(admin_->name(), "workers/w");
  EXPECT_EQ(device().quarantine().start_time().seconds(), 1000);
  EXPECT_EQ(device().quarantine().reason(),
            "3 failures in a row are blamed on it, the last: DEVICE_ERROR of "
            "job b, attempt 1");
}

// UUIDs by the names of devices, as a worker announces them.
std::map<std::string, workers::v1::Device> Announced(
    const std::map<std::string, std::string>& uuids) {
  std::map<std::string, workers::v1::Device> announced;
  for (const auto& [name, uuid] : uuids) {
    announced[name].set_name(name);
    announced[name].set_uuid(uuid);
  }
  return announced;
}

// A record with a device in quarantine.
WorkerAdminPtr WithQuarantine(const WorkerAdminPtr& admin,
                              const std::string& device,
                              const std::string& uuid) {
  const std::vector<DeviceFault> told = {Fault("XID_79", 5, true)};
  const DeviceFaults faults(told.begin(), told.end());
  return Faulted(admin, {"w", device, absl::FromUnixSeconds(1000), uuid},
                 faults, DeviceBlame());
}

TEST(FollowedTest, AQuarantineFollowsTheUuid) {
  const WorkerAdminPtr admin = WithQuarantine(nullptr, "cuda:0", "GPU-a");
  const auto as_before = Announced({{"cuda:0", "GPU-a"}, {"cuda:1", "GPU-b"}});
  EXPECT_EQ(Followed(admin, as_before), admin);
  const WorkerAdminPtr now =
      Followed(admin, Announced({{"cuda:0", "GPU-b"}, {"cuda:1", "GPU-a"}}));
  EXPECT_THAT(QuarantinedIn(now), ElementsAre("cuda:1"));
  EXPECT_THAT(QuarantinedIn(Followed(now, as_before)), ElementsAre("cuda:0"));
}

TEST(FollowedTest, DevicesMaySwapTheirNames) {
  WorkerAdminPtr admin = WithQuarantine(nullptr, "cuda:0", "GPU-a");
  admin = Blamed(admin, {"w", "cuda:1", absl::FromUnixSeconds(1000), "GPU-b"},
                 Failure("a", 1));
  admin =
      Followed(admin, Announced({{"cuda:0", "GPU-b"}, {"cuda:1", "GPU-a"}}));
  EXPECT_THAT(QuarantinedIn(admin), ElementsAre("cuda:1"));
  ASSERT_EQ(admin->devices_size(), 2);
  EXPECT_EQ(admin->devices(1).name(), "cuda:0");
  EXPECT_EQ(admin->devices(1).blames_size(), 1);
}

TEST(FollowedTest, AnotherDeviceOfTheNameIsNotInQuarantine) {
  WorkerAdminPtr admin = WithQuarantine(nullptr, "cuda:0", "GPU-a");
  admin = Followed(admin, Announced({{"cuda:0", "GPU-b"}}));
  EXPECT_THAT(QuarantinedIn(admin), ElementsAre("GPU-a"));
  // It is back.
  admin =
      Followed(admin, Announced({{"cuda:0", "GPU-b"}, {"cuda:3", "GPU-a"}}));
  EXPECT_THAT(QuarantinedIn(admin), ElementsAre("cuda:3"));
}

TEST(FollowedTest, WithoutAUuidTheNameCounts) {
  const WorkerAdminPtr admin = WithQuarantine(nullptr, "cuda:0", "GPU-a");
  EXPECT_EQ(Followed(admin, Announced({{"cuda:0", ""}})), admin);
  EXPECT_EQ(Followed(admin, {}), admin);
  EXPECT_EQ(Followed(nullptr, Announced({{"cuda:0", "GPU-a"}})), nullptr);
}

TEST(FollowedTest, WhatWasKeptByANameIsOfTheDeviceThatHasItNow) {
  WorkerAdminPtr admin = WithQuarantine(nullptr, "cuda:0", "");
  admin = Followed(admin, Announced({{"cuda:0", "GPU-a"}}));
  EXPECT_THAT(QuarantinedIn(admin), ElementsAre("cuda:0"));
  admin =
      Followed(admin, Announced({{"cuda:0", "GPU-b"}, {"cuda:1", "GPU-a"}}));
  EXPECT_THAT(QuarantinedIn(admin), ElementsAre("cuda:1"));
}

TEST(FollowedTest, OneDeviceIsKeptOnceAndItsQuarantineStays) {
  WorkerAdminPtr admin =
      Blamed(nullptr, {"w", "cuda:1", absl::FromUnixSeconds(1000), "GPU-a"},
             Failure("a", 1));
  admin = WithQuarantine(admin, "cuda:0", "");
  admin = Followed(admin, Announced({{"cuda:0", "GPU-a"}}));
  EXPECT_EQ(admin->devices_size(), 1);
  EXPECT_THAT(QuarantinedIn(admin), ElementsAre("cuda:0"));
}

TEST(FollowedTest, WhatIsHeldAgainstOneDeviceUnderTwoNamesIsHeldAgainstIt) {
  const auto at = [](const char* device, int64_t seconds, const char* uuid) {
    return DeviceMoment{"w", device, absl::FromUnixSeconds(seconds), uuid};
  };
  WorkerAdminPtr admin =
      Blamed(nullptr, at("cuda:1", 1002, "GPU-a"), Failure("a", 1));
  admin = Blamed(admin, at("cuda:1", 1003, "GPU-a"), Failure("b", 1));
  admin = Blamed(admin, at("cuda:0", 1001, ""), Failure("a", 1));
  const std::vector<DeviceFault> told = {Fault("XID_63", 990)};
  const DeviceFaults faults(told.begin(), told.end());
  admin = Faulted(admin, at("cuda:0", 1005, ""), faults, DeviceBlame());

  admin = Followed(admin, Announced({{"cuda:0", "GPU-a"}}));

  ASSERT_EQ(admin->devices_size(), 1);
  std::vector<std::string> jobs;
  for (const auto& blame : admin->devices(0).blames()) {
    jobs.push_back(blame.job());
  }
  EXPECT_THAT(jobs, ElementsAre("jobs/a", "jobs/b", ""));
  // It is told already.
  EXPECT_EQ(Faulted(admin, at("cuda:0", 1006, "GPU-a"), faults, DeviceBlame()),
            admin);
}

TEST_F(DeviceAdminTest, OneJobAloneIsNoWitness) {
  for (int attempt = 1; attempt <= 2 * kMaxBlamesKept; ++attempt) {
    Blame("a", attempt);
  }
  EXPECT_FALSE(IsIn());
  EXPECT_EQ(device().blames_size(), kMaxBlamesKept);
  Blame("b", 1);
  EXPECT_TRUE(IsIn());
}

TEST_F(DeviceAdminTest, AnAttemptIsBlamedOnce) {
  Blame("a", 1);
  const WorkerAdminPtr before = admin_;
  Blame("a", 1);
  EXPECT_EQ(admin_, before);
}

TEST_F(DeviceAdminTest, AJobThatFinishesTakesBackWhatWasBlamed) {
  Blame("a", 1);
  Blame("b", 1);
  admin_ = Acquitted(admin_, "cuda:0");
  Blame("c", 1);
  EXPECT_FALSE(IsIn());
  EXPECT_EQ(device().blames_size(), 1);
}

TEST_F(DeviceAdminTest, WhatAJobFailsElsewhereTooIsItsOwnFault) {
  Blame("a", 1);
  Blame("b", 1);
  admin_ = AcquittedOf(admin_, "cuda:0", "jobs/a");
  Blame("b", 2);
  EXPECT_FALSE(IsIn());
  const WorkerAdminPtr before = admin_;
  EXPECT_EQ(AcquittedOf(admin_, "cuda:0", "jobs/a"), before);
  EXPECT_EQ(AcquittedOf(admin_, "cuda:1", "jobs/b"), before);
}

TEST_F(DeviceAdminTest, AGraveFaultIsEnough) {
  Tell({Fault("XID_63", 1), Fault("XID_79", 2, true)});
  EXPECT_TRUE(IsIn());
  EXPECT_EQ(device().quarantine().reason(), "its driver reported XID_79");
}

TEST_F(DeviceAdminTest, OtherFaultsCountAsFailures) {
  Tell({Fault("XID_63", 1)});
  Blame("a", 1);
  EXPECT_FALSE(IsIn());
  Blame("a", 2);
  EXPECT_TRUE(IsIn());
}

TEST_F(DeviceAdminTest, AFaultAndTheFailureThatFollowsAreOne) {
  Tell({Fault("XID_94", 1)}, Failure("a", 1));
  Blame("a", 1);
  EXPECT_EQ(device().blames_size(), 1);
  EXPECT_EQ(device().blames(0).code(), "XID_94");
  EXPECT_EQ(device().blames(0).job(), "jobs/a");
}

TEST_F(DeviceAdminTest, AFaultThatIsToldAgainIsTheSame) {
  Tell({Fault("XID_63", 1)});
  const WorkerAdminPtr before = admin_;
  Tell({Fault("XID_63", 1)});
  EXPECT_EQ(admin_, before);
  Tell({Fault("XID_63", 1), Fault("XID_63", 2)});
  EXPECT_EQ(device().blames_size(), 2);
}

TEST_F(DeviceAdminTest, NothingEndsAQuarantineButARelease) {
  Tell({Fault("XID_79", 1, true)});
  const WorkerAdminPtr before = admin_;
  EXPECT_EQ(Acquitted(admin_, "cuda:0"), before);
  EXPECT_EQ(AcquittedOf(admin_, "cuda:0", "jobs/a"), before);
  Blame("a", 1);
  EXPECT_EQ(admin_, before);
}

TEST_F(DeviceAdminTest, AReleaseSaysWhoAndWhyAndForgetsWhatWasBlamed) {
  Blame("a", 1);
  Tell({Fault("XID_79", 1, true)});
  Release();
  EXPECT_FALSE(IsIn());
  EXPECT_THAT(device().blames(), IsEmpty());
  ASSERT_EQ(admin_->changes_size(), 1);
  EXPECT_EQ(admin_->changes(0).action(), "release cuda:0");
  EXPECT_EQ(admin_->changes(0).user(), "ada");
  EXPECT_EQ(admin_->changes(0).reason(), "new cable");
}

TEST_F(DeviceAdminTest, WhatTheDriverHadToldBeforeAReleaseIsOver) {
  Tell({Fault("XID_79", 1, true)});
  const std::vector<DeviceFault> told = {Fault("XID_79", 1, true),
                                         Fault("XID_79", 2, true)};
  Tell(told);
  EXPECT_EQ(device().blames_size(), 1);
  Release();
  Tell(told);
  EXPECT_FALSE(IsIn());
  Tell({Fault("XID_79", 3, true)});
  EXPECT_TRUE(IsIn());
}

TEST_F(DeviceAdminTest, WhatIsInNoQuarantineIsNotReleased) {
  Release();
  EXPECT_EQ(admin_, nullptr);
  Blame("a", 1);
  const WorkerAdminPtr before = admin_;
  Release();
  EXPECT_EQ(admin_, before);
}

TEST_F(DeviceAdminTest, ItIsShownInWhatTheWorkerAnnounced) {
  Blame("a", 1);
  Tell({Fault("XID_79", 1, true)});
  Worker worker;
  worker.add_devices()->set_name("cuda:1");
  worker.add_devices()->set_name("cuda:0");
  ShowDevices(admin_, &worker);
  EXPECT_FALSE(worker.devices(0).has_quarantine());
  EXPECT_TRUE(worker.devices(1).has_quarantine());
  EXPECT_EQ(worker.devices(1).blames_size(), 2);
  EXPECT_THAT(worker.devices(1).faults(), IsEmpty());
}

TEST_F(DeviceAdminTest, UnknownDeviceIsNotFoundAndTheOthersAreNamed) {
  Worker worker;
  worker.set_name("workers/w");
  worker.add_devices()->set_name("cuda:0");
  EXPECT_THAT(CheckHasDevice(worker, "cuda:0"), base::testing::IsOk());
  EXPECT_THAT(
      CheckHasDevice(worker, "cuda:7"),
      StatusIs(absl::StatusCode::kNotFound,
               HasSubstr("worker w has no device cuda:7; it has cuda:0")));
}

}  // namespace
}  // namespace ordo::scheduler::core
