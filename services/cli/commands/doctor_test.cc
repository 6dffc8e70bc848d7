#include <map>
#include <sstream>
#include <string>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What this machine is like is not the test's: it looks at checks of what it
// made itself.
class DoctorTest : public testing::CliTest {
 protected:
  DoctorTest() { clock_.JumpTo(base::RealClock().Now()); }

  // Health by check; the exit code must be that of what it says.
  std::map<std::string, std::string> Healths(std::vector<std::string> args) {
    args.insert(args.begin(), {"doctor", "-o", "json"});
    const int code = Run(args);
    std::map<std::string, std::string> healths;
    google::protobuf::Struct read;
    EXPECT_TRUE(base::ReadMessage(out(), base::TextForm::kJson, &read).ok())
        << out() << err();
    const auto& fields = read.fields();
    if (fields.count("findings") == 0) return healths;
    for (const auto& row : fields.at("findings").list_value().values()) {
      const auto& finding = row.struct_value().fields();
      const std::string health = finding.at("health").string_value();
      healths[finding.at("check").string_value()] = health;
      EXPECT_FALSE(finding.at("seen").string_value().empty());
      EXPECT_EQ(finding.count("do"), health == "ok" ? 0u : 1u);
    }
    EXPECT_EQ(code, fields.at("fail").number_value() > 0 ? 2 : 0);
    return healths;
  }
};

TEST_F(DoctorTest, LooksAtTheMachineTheStorageAndTheScheduler) {
  const auto healths = Healths({"--storage", folder_.path()});
  EXPECT_EQ(healths.at("storage/rename"), "ok");
  EXPECT_EQ(healths.at("storage/clock"), "ok");
  EXPECT_EQ(healths.at("machine/kernel"), "ok");
  EXPECT_EQ(healths.count("devices/gpus"), 1u);
  EXPECT_EQ(healths.at("server/reachable"), "ok");
  // This scheduler is a fake that does not tell.
  EXPECT_EQ(healths.at("server/clock"), "warn");
  EXPECT_EQ(healths.at("server/workers"), "warn");
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.set_protocol(base::kWorkerProtocol);
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Healths({}).at("server/workers"), "ok");
}

TEST_F(DoctorTest, SaysWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(Run({"doctor", "--storage", folder_.Path("none")}), 2);
  EXPECT_THAT(out(), AllOf(HasSubstr("fail  storage/folder"),
                           HasSubstr("do: mount the shared storage there"),
                           HasSubstr("ok    machine/kernel")));
  // The last line counts.
  std::istringstream lines(out());
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line;
  EXPECT_THAT(last, ::testing::MatchesRegex(".* ok, .* warn, .* fail"));
}

TEST_F(DoctorTest, AServerThatSomebodyNamedMustAnswer) {
  EXPECT_EQ(Healths({"--server", "127.0.0.1:1"}).at("server/reachable"),
            "fail");
  client_.address = "127.0.0.1:1";
  EXPECT_EQ(Healths({}).at("server/reachable"), "warn");
  environment_["ORDO_SERVER"] = "127.0.0.1:1";
  EXPECT_EQ(Healths({}).at("server/reachable"), "fail");
}

TEST_F(DoctorTest, AConfigurationIsFollowed) {
  const std::string file =
      WriteFile("s.yaml", "store: " + folder_.Path("none/ordo.db") +
                              "\nstorage_root: " + folder_.path() + "\n");
  const auto healths = Healths({"--config", file});
  EXPECT_EQ(healths.at("store/folder"), "fail");
  EXPECT_EQ(healths.at("storage/write"), "ok");
  EXPECT_EQ(healths.count("ports/scheduler.listen"), 1u);

  EXPECT_EQ(Run({"doctor", "--config", WriteFile("x.yaml", "a: b\n")}), 2);
  EXPECT_THAT(err(), HasSubstr("no configuration of a scheduler"));
}

TEST_F(DoctorTest, TheDeploymentHereIsFollowedWithoutBeingNamed) {
  environment_["ORDO_DIR"] = folder_.path();
  EXPECT_EQ(Healths({}).count("store/write"), 0u);
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("config")));
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("scheduler")));
  WriteFile("config/scheduler.textproto",
            "store: \"" + folder_.Path("scheduler/ordo.db") +
                "\"\nstorage_root: \"" + folder_.path() + "\"\n");
  EXPECT_EQ(Healths({}).at("store/write"), "ok");
  // The same storage, looked at twice, is told once.
  WriteFile("config/worker.textproto",
            "worker: \"w\"\nscheduler: \"127.0.0.1:1\"\nstate_folder: \"" +
                folder_.Path("none") + "\"\nstorage_root: \"" + folder_.path() +
                "\"\n");
  EXPECT_EQ(Healths({}).at("state/folder"), "fail");
  EXPECT_EQ(Run({"doctor"}), 2);
  const size_t first = out().find("storage/rename");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(out().find("storage/rename", first + 1), std::string::npos);
  // What is named is all that is looked at.
  EXPECT_EQ(Healths({"--storage", folder_.path()}).count("store/write"), 0u);
}

}  // namespace
}  // namespace ordo::services::cli
