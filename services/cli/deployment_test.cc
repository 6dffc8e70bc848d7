#include "services/cli/deployment.h"

#include <arpa/inet.h>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/config/v1/scheduler.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

class DeploymentTest : public ::testing::Test {
 protected:
  DeploymentTest() { options_.folder = folder_.path(); }

  template <typename Config>
  Config ReadConfig(const std::string& process) {
    Config config;
    const auto text =
        base::ReadFile(files_, ConfigFile(folder_.path(), process), 1 << 16);
    ORDO_EXPECT_OK(text);
    ORDO_EXPECT_OK(base::ReadMessage(text.value_or(""),
                                     base::TextForm::kTextproto, &config));
    return config;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  DeploymentOptions options_;
};

TEST_F(DeploymentTest, AFolderRemembersWhereItsSchedulerListened) {
  EXPECT_EQ(ConfiguredListen(files_, folder_.path()), "");
  ORDO_ASSERT_OK(files_.MakeFolders(base::JoinPath(folder_.path(), "config")));
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, options_, "127.0.0.1:4711"));
  EXPECT_EQ(ConfiguredListen(files_, folder_.path()), "127.0.0.1:4711");
}

TEST_F(DeploymentTest, SchedulerConfigHasFoldersAndSettings) {
  options_.settings = {"scheduler.lease=3s", "worker.stop_grace=5s"};
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, options_, "127.0.0.1:0"));
  const auto config = ReadConfig<config::v1::SchedulerConfig>("scheduler");
  EXPECT_EQ(config.listen(), "127.0.0.1:0");
  EXPECT_EQ(config.store(), folder_.Path("scheduler/ordo.db"));
  EXPECT_EQ(config.storage_root(), folder_.Path("storage"));
  EXPECT_EQ(config.endpoints_file(), folder_.Path("scheduler/endpoints.json"));
  EXPECT_EQ(config.deployment(), folder_.path());
  EXPECT_EQ(config.lease().seconds(), 3);
}

TEST_F(DeploymentTest, AConfigurationChangedByHandIsRefusedAndStays) {
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, options_, "127.0.0.1:4711"));
  ORDO_ASSERT_OK_AND_ASSIGN(auto kept, KeepHandEdits(files_, folder_.path()));
  EXPECT_TRUE(kept.empty());
  const std::string path = ConfigFile(folder_.path(), "scheduler");
  ORDO_ASSERT_OK_AND_ASSIGN(std::string text,
                            base::ReadFile(files_, path, 1 << 16));
  EXPECT_THAT(text, ::testing::StartsWith("# Written by `ordo up`"));
  text += "lease { seconds: 9 }\n";
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, text));
  EXPECT_THAT(KeepHandEdits(files_, folder_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("--set scheduler.FIELD=VALUE --listen "
                                 "127.0.0.1:4711")));
  EXPECT_EQ(base::ReadFile(files_, path, 1 << 16).value_or(""), text);
}

TEST_F(DeploymentTest, AConfigurationWithoutAMarkIsCopiedAside) {
  const std::string path = ConfigFile(folder_.path(), "worker");
  ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(path)));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, "worker: \"w1\"\n"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto kept,
                            KeepHandEdits(files_, folder_.path()));
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(base::ReadFile(files_, kept[0], 1 << 16).value_or(""),
            "worker: \"w1\"\n");
}

TEST_F(DeploymentTest, WorkerConfigHasTrainerAndEnvironment) {
  options_.settings = {"worker.stop_grace=5s"};
  options_.trainer = "/bin/true";
  options_.trainer_environment = {"A=b=c"};
  ORDO_ASSERT_OK(WriteWorkerConfig(files_, options_, "127.0.0.1:7"));
  const auto config = ReadConfig<config::v1::WorkerConfig>("worker");
  EXPECT_EQ(config.scheduler(), "127.0.0.1:7");
  EXPECT_EQ(config.trainer(), "/bin/true");
  EXPECT_EQ(config.trainer_environment().at("A"), "b=c");
  EXPECT_EQ(config.stop_grace().seconds(), 5);
}

TEST_F(DeploymentTest, WorkerConfigHasDataRootsOnceBesideThoseOfSettings) {
  options_.settings = {R"(worker.data_roots=["/srv/a", "/srv/b"])"};
  options_.data_roots = {"/srv/b", "/srv/c"};
  ORDO_ASSERT_OK(WriteWorkerConfig(files_, options_, "127.0.0.1:7"));
  EXPECT_THAT(ReadConfig<config::v1::WorkerConfig>("worker").data_roots(),
              ElementsAre("/srv/a", "/srv/b", "/srv/c"));
}

TEST_F(DeploymentTest, ADataRootIsAFolderThatCanBeRead) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("text/a")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("text/b"), "b"));
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("a:b")));
  const auto root = DataRoot(folder_.Path("text/../text/a/"));
  ORDO_ASSERT_OK(root);
  EXPECT_EQ(*root, *DataRoot(folder_.path()) + "/text/a");
  for (const auto& [name, why] :
       std::map<std::string, std::string>{{"text/b", "it is no folder"},
                                          {"text/c", "No such file"},
                                          {"a:b", "has a colon"}}) {
    EXPECT_THAT(DataRoot(folder_.Path(name)),
                StatusIs(kInvalid, AllOf(HasSubstr("--data-root "),
                                         HasSubstr(name), HasSubstr(why))));
  }
}

TEST_F(DeploymentTest, BadSettingsAreNamed) {
  options_.settings = {"lease=3s"};
  EXPECT_THAT(CheckSettings(options_),
              StatusIs(kInvalid, HasSubstr("starts with scheduler.")));
  options_.settings = {"scheduler.lese=3s"};
  EXPECT_THAT(CheckSettings(options_),
              StatusIs(kInvalid, HasSubstr("--set scheduler.lese")));
  options_.settings = {"worker.stop_grace=soon"};
  EXPECT_THAT(CheckSettings(options_),
              StatusIs(kInvalid, HasSubstr("--set worker.stop_grace")));
  options_.settings = {};
  options_.trainer_environment = {"A"};
  EXPECT_THAT(CheckSettings(options_),
              StatusIs(kInvalid, HasSubstr("--trainer-env")));
}

TEST_F(DeploymentTest, EndpointsComeBackAsTheyWere) {
  Endpoints endpoints;
  endpoints.api = "127.0.0.1:7420";
  endpoints.metrics["scheduler"] = "127.0.0.1:4";
  endpoints.processes["worker"] = {12345, 9876543210, "a-boot"};
  endpoints.ready = true;
  ORDO_ASSERT_OK(WriteEndpoints(files_, folder_.path(), endpoints));
  const auto read = ReadEndpoints(files_, folder_.path());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->api, endpoints.api);
  EXPECT_EQ(read->metrics, endpoints.metrics);
  EXPECT_EQ(read->processes, endpoints.processes);
  EXPECT_TRUE(read->ready);
  EXPECT_THAT(EndpointsJson(endpoints),
              HasSubstr("\"pids\":{\"worker\":12345}"));
}

TEST_F(DeploymentTest, ProcessOfAnotherBootDoesNotRun) {
  Endpoints endpoints;
  ORDO_ASSERT_OK_AND_ASSIGN(const base::ProcessId self,
                            base::IdentifyProcess(getpid()));
  endpoints.processes["keeper"] = self;
  endpoints.processes["worker"] = {self.pid, self.start_ticks, "before"};
  ORDO_ASSERT_OK(WriteEndpoints(files_, folder_.path(), endpoints));
  const auto read = ReadEndpoints(files_, folder_.path());
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(base::IsRunning(read->processes.at("keeper")));
  EXPECT_FALSE(base::IsRunning(read->processes.at("worker")));
}

TEST_F(DeploymentTest, DamagedEndpointsAreNone) {
  EXPECT_FALSE(ReadEndpoints(files_, folder_.path()).has_value());
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("endpoints.json"), "{\"api\":"));
  EXPECT_FALSE(ReadEndpoints(files_, folder_.path()).has_value());
}

TEST_F(DeploymentTest, PortsAreThereOnceTheProcessHasWrittenThem) {
  EXPECT_FALSE(ReadPorts(files_, folder_.path(), "worker").has_value());
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("worker")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_,
                                   folder_.Path("worker/endpoints.json"),
                                   R"({"api": "h:1", "metrics": "h:2"})"));
  const auto ports = ReadPorts(files_, folder_.path(), "worker");
  ASSERT_TRUE(ports.has_value());
  EXPECT_EQ(ports->api, "h:1");
  EXPECT_EQ(ports->metrics, "h:2");
}

TEST_F(DeploymentTest, FolderIsMadeAndAbsolute) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string folder,
      DeploymentFolder(files_, folder_.Path("a/../b"), std::nullopt, true));
  EXPECT_EQ(folder, folder_.Path("b"));
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string at_home,
                            DeploymentFolder(files_, "", folder_.path(), true));
  EXPECT_EQ(at_home, folder_.Path("ordo"));
}

TEST_F(DeploymentTest, AFullDiskIsNoFaultOfTheFolder) {
  base::testing::FaultyFilesystem files(files_);
  files.Fail(base::testing::FileOperation::kMakeFolders, "", ENOSPC);
  EXPECT_THAT(DeploymentFolder(files, folder_.Path("b"), std::nullopt, true),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("--dir or ORDO_DIR")));
}

TEST(DataHomeTest, IsWhatTheUserNamesElseTheCustomaryPlaceAtHome) {
  std::map<std::string, std::string> environment;
  const auto find =
      [&environment](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  EXPECT_EQ(DataHome(find), std::nullopt);
  environment["HOME"] = "/h";
  EXPECT_EQ(DataHome(find), "/h/.local/share");
  environment["XDG_DATA_HOME"] = "/data";
  EXPECT_EQ(DataHome(find), "/data");
  // The XDG specification has relative ones ignored.
  environment["XDG_DATA_HOME"] = "data";
  EXPECT_EQ(DataHome(find), "/h/.local/share");
}

TEST_F(DeploymentTest, FolderThatCannotBeMadeNamesTheFix) {
  EXPECT_THAT(DeploymentFolder(files_, "/proc/ordo", std::nullopt, true),
              StatusIs(kInvalid, HasSubstr("--dir or ORDO_DIR")));
  EXPECT_THAT(DeploymentFolder(files_, "", std::nullopt, true),
              StatusIs(kInvalid, HasSubstr("--dir")));
}

TEST(CheckPortFreeTest, PortInUseIsToldWithWhatToDo) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string listen_at =
      absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  EXPECT_THAT(CheckPortFree(listen_at),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("choose another with --listen")));
  close(fd);
  EXPECT_THAT(CheckPortFree(listen_at), IsOk());
  EXPECT_THAT(CheckPortFree("127.0.0.1:0"), IsOk());
}

TEST(CheckPortFreeTest, AddressOfAnotherMachineIsRefused) {
  EXPECT_FALSE(CheckPortFree("192.0.2.1:0").ok());
}

TEST(LocalAddressTest, AnyAddressBecomesLoopback) {
  EXPECT_EQ(LocalAddress("0.0.0.0:7"), "127.0.0.1:7");
  EXPECT_EQ(LocalAddress("[::]:7"), "[::1]:7");
  EXPECT_EQ(LocalAddress("127.0.0.1:7"), "127.0.0.1:7");
}

}  // namespace
}  // namespace ordo::services::cli
