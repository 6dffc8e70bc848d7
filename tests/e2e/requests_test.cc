// What jobs ask of machines: labels, devices, cores, memory, workers of their
// own.
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using config::v1::WorkerConfig;
using jobs::v1::Attempt;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RequestsTest : public Scenario {
 protected:
  // Two workers with a device each, in zones `a` and `b`; only the first is
  // started.
  void StartInZones() {
    harness::DeploymentOptions options = Options("");
    options.num_workers = 2;
    options.start_workers = false;
    options.each_worker = [](int number, WorkerConfig* config) {
      (*config->mutable_labels())["zone"] = number == 1 ? "a" : "b";
    };
    Start(options);
    ORDO_ASSERT_OK(deployment_->StartWorker(1));
    WaitForDevices(1);
  }

  // One worker with two devices, 4 cores and 4000 bytes.
  void StartWithTwoDevices(const std::string& fake) {
    harness::DeploymentOptions options = Options(fake);
    options.worker.add_devices("cpu:0");
    options.worker.add_devices("cpu:1");
    options.worker.set_cpus(4);
    options.worker.set_memory_bytes(4000);
    Start(options);
    WaitForDevices(2);
  }

  static JobSpec SpecOf(
      const std::string& name,
      const std::function<void(training::v1::Resources*)>& ask) {
    JobSpec spec = Spec(name);
    ask(spec.mutable_resources());
    return spec;
  }

  // "second" waits for the end of "first", which runs until it is released.
  void ExpectSecondAfterFirst(const JobSpec& first, const JobSpec& second,
                              const std::string& why) {
    Submit(first);
    ASSERT_TRUE(WaitForState("first", Job::RUNNING).has_value());
    Submit(second);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("second"));
    EXPECT_THAT(explained.summary(), HasSubstr(why));
    Release("first");
    const auto ran = WaitForState("first", Job::SUCCEEDED);
    const auto waited = WaitForState("second", Job::SUCCEEDED);
    ASSERT_TRUE(ran.has_value() && waited.has_value());
    EXPECT_GE(base::ToTime(waited->attempts(0).start_time()),
              base::ToTime(ran->attempts(0).end_time()));
  }
};

TEST_F(RequestsTest, AJobStartsOnTheWorkerThatHasItsLabels) {
  StartInZones();
  Submit(SpecOf("job",
                [](auto* asked) { (*asked->mutable_labels())["zone"] = "b"; }));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("job"));
  ASSERT_GE(explained.blockers_size(), 1);
  EXPECT_EQ(explained.blockers(0).reason(), "NO_SUCH_DEVICE");
  EXPECT_THAT(explained.summary(),
              HasSubstr("no worker has the label zone=b: there is zone=a"));
  Submit(Spec("anywhere"));
  const auto anywhere = WaitForState("anywhere", Job::SUCCEEDED);
  ASSERT_TRUE(anywhere.has_value());
  EXPECT_EQ(anywhere->attempts(0).worker(), "worker-1");

  ORDO_ASSERT_OK(deployment_->StartWorker(2));
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts(0).worker(), "worker-2");
}

TEST_F(RequestsTest, ARequestThatNoWorkerMeetsWaitsAndSaysWhatThereIs) {
  StartWithTwoDevices("");
  Submit(SpecOf("devices", [](auto* asked) { asked->set_devices(3); }));
  Submit(SpecOf("cores", [](auto* asked) { asked->set_cpus(5); }));
  Submit(SpecOf("memory",
                [](auto* asked) { asked->set_device_memory_bytes(5000); }));
  const struct {
    const char* job;
    const char* says;
  } kCases[] = {
      {"devices", "no worker has 3 cpu devices: the most is 2, of worker-1"},
      {"cores", "no worker has 5 cores: the most is 4, of worker-1"},
      {"memory", "no worker has a cpu device with"},
  };
  for (const auto& each : kCases) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain(each.job));
    EXPECT_THAT(explained.summary(), HasSubstr(each.says));
    ORDO_ASSERT_OK_AND_ASSIGN(const Job job, deployment_->Get(each.job));
    EXPECT_EQ(job.state(), Job::QUEUED);
  }
}

TEST_F(RequestsTest, CoresThatAreSetAsideAreNotGivenTwice) {
  StartWithTwoDevices("first:hold_at=30");
  const auto ask = [](auto* asked) { asked->set_cpus(3); };
  ExpectSecondAfterFirst(SpecOf("first", ask), SpecOf("second", ask),
                         "1 cpu device is free, but with too few cores");
}

TEST_F(RequestsTest, MemoryThatIsSetAsideIsNotGivenTwice) {
  StartWithTwoDevices("first:hold_at=30");
  const auto ask = [](auto* asked) { asked->set_memory_bytes(3000); };
  ExpectSecondAfterFirst(SpecOf("first", ask), SpecOf("second", ask),
                         "1 cpu device is free, but with too little memory");
}

TEST_F(RequestsTest, AnExclusiveJobWaitsUntilItsWorkerIsEmpty) {
  StartWithTwoDevices("first:hold_at=30");
  ExpectSecondAfterFirst(
      Spec("first"),
      SpecOf("second", [](auto* asked) { asked->set_exclusive(true); }),
      "1 cpu device is free, but others are on the same workers");
}

TEST_F(RequestsTest, NothingStartsBesideAnExclusiveJob) {
  StartWithTwoDevices("first:hold_at=30");
  ExpectSecondAfterFirst(
      SpecOf("first", [](auto* asked) { asked->set_exclusive(true); }),
      Spec("second"),
      "1 cpu device is free, but on workers that a job has for itself");
}

TEST_F(RequestsTest, AllDevicesOfARankAreHeldAndAccounted) {
  StartWithTwoDevices("first:hold_at=30");
  ExpectSecondAfterFirst(
      SpecOf("first", [](auto* asked) { asked->set_devices(2); }),
      Spec("second"),
      "every cpu device is busy: cpu:0 of worker-1 runs job "
      "first (attempt 1), cpu:1 of worker-1 runs job first");
  ORDO_ASSERT_OK_AND_ASSIGN(const Job first, deployment_->Get("first"));
  const Attempt& attempt = first.attempts(0);
  EXPECT_THAT(attempt.devices(), ElementsAre("cpu:0", "cpu:1"));
  const double seconds = absl::ToDoubleSeconds(
      base::ToTime(attempt.end_time()) - base::ToTime(attempt.start_time()));
  EXPECT_NEAR(attempt.device_seconds() / seconds, 2, 0.5);
}

TEST_F(RequestsTest, WhatIsOutOfBoundsIsRefusedByName) {
  Start("");
  const absl::Status status =
      deployment_
          ->Create(SpecOf("job",
                          [](auto* asked) {
                            asked->set_devices(65);
                            asked->set_memory_bytes(-1);
                            (*asked->mutable_labels())["a b"] = "c";
                          }))
          .status();
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(status)) {
    fields.push_back(violation.field);
  }
  EXPECT_THAT(fields, ElementsAre("job.spec.resources.devices",
                                  "job.spec.resources.memory_bytes",
                                  "job.spec.resources.labels"));
}

}  // namespace
}  // namespace ordo::tests::e2e
