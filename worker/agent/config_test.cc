#include "worker/agent/config.h"

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::config::v1::WorkerConfig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

WorkerConfig Valid() {
  WorkerConfig config;
  config.set_worker("w1");
  config.set_scheduler("127.0.0.1:7420");
  config.set_state_folder("/state");
  config.set_storage_root("/root");
  config.set_trainer("/bin/trainer");
  return config;
}

std::vector<std::string> BadFields(WorkerConfig config) {
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(CheckConfig(&config))) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(ConfigTest, DefaultsAreFilledIn) {
  WorkerConfig config = Valid();
  ORDO_ASSERT_OK(CheckConfig(&config));
  EXPECT_EQ(config.listen(), "127.0.0.1:0");
  EXPECT_EQ(config.metrics_listen(), "127.0.0.1:0");
  // The machine decides.
  EXPECT_THAT(config.devices(), IsEmpty());
  EXPECT_EQ(config.stop_grace().seconds(), 30);
  EXPECT_EQ(config.log_level(), "info");
  EXPECT_EQ(config.sandbox().processes(), 4096);
  EXPECT_EQ(config.log_format(), "text");
}

TEST(ConfigTest, EmptyOneNamesAllThatIsRequired) {
  EXPECT_THAT(BadFields(WorkerConfig()),
              ElementsAre("worker", "scheduler", "state_folder", "storage_root",
                          "trainer"));
}

TEST(ConfigTest, EachBadValueIsNamed) {
  WorkerConfig config = Valid();
  config.set_worker("W 1");
  config.set_listen("nowhere");
  config.set_log_level("loud");
  config.set_log_format("xml");
  config.mutable_stop_grace()->set_seconds(-1);
  for (int i = 0; i < 63; ++i) {
    (*config.mutable_labels())[std::to_string(i)] = "x";
  }
  config.set_cpus(-1);
  config.set_memory_bytes(-1);
  config.mutable_sandbox()->set_processes(0);
  EXPECT_THAT(
      BadFields(config),
      ElementsAre("worker", "listen", "log_level", "log_format", "stop_grace",
                  "labels", "cpus", "memory_bytes", "sandbox.processes"));
}

TEST(ConfigTest, AWorkerLeavesInTimeToStopWhatRuns) {
  WorkerConfig config = Valid();
  ORDO_ASSERT_OK(CheckConfig(&config));
  EXPECT_FALSE(LeaveTime(config).has_value());
  config.mutable_end_time()->set_seconds(1'900'000'000);
  config.mutable_stop_grace()->set_seconds(120);
  ORDO_ASSERT_OK(CheckConfig(&config));
  const auto leave_time = LeaveTime(config);
  ASSERT_TRUE(leave_time.has_value());
  // The grace, and what the worker waits beyond it.
  EXPECT_EQ(leave_time->seconds(), 1'900'000'000 - 120 - 15);
}

TEST(ConfigTest, ATimeThatIsNoneIsNamed) {
  WorkerConfig config = Valid();
  for (const int64_t seconds : {int64_t{-1}, int64_t{0}, int64_t{1} << 60}) {
    config.mutable_end_time()->set_seconds(seconds);
    EXPECT_THAT(BadFields(config), ElementsAre("end_time")) << seconds;
  }
}

TEST(ConfigTest, DataRootsAreAbsoluteAndWithoutColons) {
  WorkerConfig config = Valid();
  config.add_data_roots("/srv/text");
  ORDO_EXPECT_OK(CheckConfig(&config));
  config.add_data_roots("text");
  config.add_data_roots("/srv/a:b");
  config.add_data_roots("");
  EXPECT_THAT(BadFields(config),
              ElementsAre("data_roots[1]", "data_roots[2]", "data_roots[3]"));
}

TEST(ConfigTest, LabelsThatNoJobMayAskForAreLeftOut) {
  WorkerConfig config = Valid();
  (*config.mutable_labels())["zone"] = "north\n";
  (*config.mutable_labels())["a b"] = "x";
  (*config.mutable_labels())["rack"] = "4";
  ORDO_ASSERT_OK(CheckConfig(&config));
  EXPECT_THAT(config.labels(), ElementsAre(Pair("rack", "4")));
}

TEST(ConfigTest, ListenersOffLoopbackNeedInsecure) {
  WorkerConfig config = Valid();
  config.set_listen("0.0.0.0:0");
  config.set_metrics_listen("0.0.0.0:9100");
  EXPECT_THAT(BadFields(config), ElementsAre("listen", "metrics_listen"));
  config.set_insecure(true);
  EXPECT_THAT(BadFields(config), ElementsAre());
}

TEST(ConfigTest, ListenersOffLoopbackMayHaveTls) {
  WorkerConfig config = Valid();
  config.set_listen("0.0.0.0:0");
  config.set_metrics_listen("0.0.0.0:9100");
  config.mutable_tls()->set_ca("/tls/ca.pem");
  EXPECT_THAT(BadFields(config), ElementsAre("tls.certificate"));
  config.mutable_tls()->set_certificate("/tls/w.pem");
  EXPECT_THAT(BadFields(config), IsEmpty());
}

TEST(ConfigTest, FileIsReadAndTheCommandLineNamesTheDeployment) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  const std::string path = folder.Path("worker.textproto");
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, Valid().DebugString()));
  ORDO_ASSERT_OK_AND_ASSIGN(const WorkerConfig config,
                            ReadConfig(path, {"/deployment", ""}));
  EXPECT_EQ(config.worker(), "w1");
  EXPECT_EQ(config.deployment(), "/deployment");
  EXPECT_EQ(config.listen(), "127.0.0.1:0");
}

TEST(ConfigTest, TheCommandLineNamesTheWorkerThatSharesAFile) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  const std::string path = folder.Path("worker.textproto");
  WorkerConfig shared = Valid();
  shared.clear_worker();
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, shared.DebugString()));
  ORDO_ASSERT_OK_AND_ASSIGN(const WorkerConfig config,
                            ReadConfig(path, {"", "ordo-worker-0"}));
  EXPECT_EQ(config.worker(), "ordo-worker-0");
  // It is judged like the file's.
  EXPECT_THAT(
      ReadConfig(path, {"", "Worker"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("worker")));
}

TEST(ConfigTest, UnknownFieldIsAnError) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  const std::string path = folder.Path("worker.textproto");
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, "wroker: \"w\""));
  EXPECT_THAT(ReadConfig(path, {}), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("wroker")));
}

TEST(ConfigTest, MissingFileIsNamed) {
  EXPECT_THAT(
      ReadConfig("/no/such.textproto", {}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such.textproto")));
}

}  // namespace
}  // namespace ordo::worker::agent
