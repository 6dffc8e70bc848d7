#include "services/cli/doctor/configuration.h"

#include <map>
#include <string>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/sockets/listener.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli::doctor {
namespace {

using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() : calls_(files_, clock_) {
    calls_.is_remote = [](const std::string&) { return false; };
  }

  std::string Put(const std::string& name, const std::string& text) {
    EXPECT_TRUE(base::AtomicWrite(files_, folder_.Path(name), text).ok());
    return folder_.Path(name);
  }
  std::map<std::string, Finding> Check(const std::string& path) {
    std::map<std::string, Finding> found;
    const auto configuration = ReadConfiguration(files_, path);
    EXPECT_TRUE(configuration.ok()) << configuration.status();
    if (!configuration.ok()) return found;
    for (Finding& finding : CheckConfiguration(calls_, *configuration)) {
      const std::string name = finding.check;
      EXPECT_TRUE(found.emplace(name, std::move(finding)).second) << name;
    }
    return found;
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  FolderCalls calls_;
};

TEST_F(ConfigurationTest, IsTheSchedulersOrAWorkers) {
  const std::string scheduler =
      Put("s.yaml", "store: /a/ordo.db\nstorage_root: /b\n");
  ORDO_ASSERT_OK_AND_ASSIGN(Configuration read,
                            ReadConfiguration(files_, scheduler));
  EXPECT_TRUE(read.scheduler.has_value());
  EXPECT_FALSE(read.worker.has_value());
  const std::string worker =
      Put("w.textproto", "worker: \"w\"\nstorage_root: \"/b\"\n");
  ORDO_ASSERT_OK_AND_ASSIGN(read, ReadConfiguration(files_, worker));
  EXPECT_TRUE(read.worker.has_value());
  EXPECT_FALSE(read.scheduler.has_value());
}

TEST_F(ConfigurationTest, OrNothingThatIsKnown) {
  EXPECT_THAT(ReadConfiguration(files_, Put("x.yaml", "colour: red\n")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("no configuration of a scheduler"),
                             HasSubstr("none of a worker"))));
  EXPECT_THAT(ReadConfiguration(files_, folder_.Path("none.yaml")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ConfigurationTest, ASchedulersFoldersAndPortsAreLookedAt) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("store")));
  ORDO_ASSERT_OK_AND_ASSIGN(const base::Listener taken,
                            base::ListenAt("127.0.0.1"));
  const std::string path =
      Put("s.yaml", absl::StrCat("store: ", folder_.Path("store/ordo.db"),
                                 "\nstorage_root: ", folder_.Path("storage"),
                                 "\nlisten: 127.0.0.1:", taken.port, "\n"));
  const auto found = Check(path);
  close(taken.fd);
  EXPECT_EQ(found.at("store/hard-links").health, Health::kOk);
  EXPECT_EQ(found.at("storage/folder").health, Health::kFail);
  EXPECT_EQ(found.at("ports/scheduler.listen").health, Health::kFail);
  EXPECT_EQ(found.at("ports/scheduler.metrics_listen").health, Health::kOk);
  EXPECT_EQ(found.count("network/scheduler"), 0u);
}

TEST_F(ConfigurationTest, AWorkersToo) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("state")));
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("storage")));
  ORDO_ASSERT_OK_AND_ASSIGN(const base::Listener taken,
                            base::ListenAt("127.0.0.1"));
  const std::string address = absl::StrCat("127.0.0.1:", taken.port);
  // It runs, and is where it said.
  Put("endpoints.json", absl::StrCat("{\"api\": \"", address,
                                     "\", \"metrics\": \"127.0.0.1:1\"}\n"));
  const std::string path =
      Put("w.yaml",
          absl::StrCat("worker: w\nstate_folder: ", folder_.Path("state"),
                       "\nstorage_root: ", folder_.Path("storage"),
                       "\nlisten: ", address, "\nscheduler: ", address,
                       "\nendpoints_file: ", folder_.Path("endpoints.json"),
                       "\ndata_roots: [", folder_.Path("none"), "]\n"));
  auto found = Check(path);
  EXPECT_EQ(found.at("state/locks").health, Health::kOk);
  EXPECT_EQ(found.at("storage/rename").health, Health::kOk);
  EXPECT_EQ(found.at("ports/worker.listen").health, Health::kOk);
  EXPECT_EQ(found.at("network/scheduler").health, Health::kOk);
  EXPECT_EQ(found.at("data/roots").health, Health::kFail);
  EXPECT_EQ(found.at("tls/worker").health, Health::kOk);
  close(taken.fd);

  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("none")));
  found = Check(path);
  EXPECT_EQ(found.at("data/roots").health, Health::kOk);
  EXPECT_EQ(found.at("network/scheduler").health, Health::kFail);
}

TEST_F(ConfigurationTest, APortThatOthersReachNeedsCertificates) {
  const std::string text = absl::StrCat(
      "store: ", folder_.Path("ordo.db"), "\nstorage_root: ", folder_.path(),
      "\nlisten: 0.0.0.0:0\ninsecure: true\n");
  EXPECT_EQ(Check(Put("s.yaml", text)).at("tls/scheduler").health,
            Health::kWarn);
  const auto found = Check(
      Put("t.yaml", text + "tls: {certificate: /none.pem, ca: /none.pem}\n"));
  EXPECT_EQ(found.at("tls/scheduler.files").health, Health::kFail);
}

}  // namespace
}  // namespace ordo::services::cli::doctor
