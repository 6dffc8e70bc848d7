#include "services/cli/commands/up_options.h"

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "services/cli/commands/commands.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

class UpOptionsTest : public testing::CliTest {
 protected:
  // What `up` with these arguments, in the test's folder, is told.
  UpOptions Read(std::vector<std::string> args) {
    args.insert(args.end(), {"--dir", folder_.path()});
    const auto arguments = ParseArguments(UpCommand().options, args);
    EXPECT_TRUE(arguments.ok()) << arguments.status();
    Client client(client_, interrupt_);
    std::istringstream in;
    std::ostringstream none;
    const auto environment =
        [](const std::string&) -> std::optional<std::string> { return {}; };
    Context context{in,     none,       none,   Terminal(), OutputForm::kTable,
                    client, interrupt_, files_, clock_,     environment};
    const auto options = ReadUpOptions(context, *arguments);
    EXPECT_TRUE(options.ok()) << options.status();
    return options.ok() ? *options : UpOptions();
  }
};

TEST_F(UpOptionsTest, OneThatWasUpListensWhereItDid) {
  DeploymentOptions before;
  before.folder = folder_.path();
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("config")));
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, before, "127.0.0.1:4711"));
  EXPECT_EQ(Read({}).given.listen, "127.0.0.1:4711");
  EXPECT_EQ(Read({"--listen", "127.0.0.1:0"}).given.listen, "127.0.0.1:0");
}

TEST_F(UpOptionsTest, FreshSettingsForgetWhereItListenedToo) {
  DeploymentOptions before;
  before.folder = folder_.path();
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("config")));
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, before, "127.0.0.1:4711"));
  const UpOptions fresh = Read({"--fresh-settings"});
  EXPECT_EQ(fresh.given.listen, DeploymentOptions().listen);
  EXPECT_EQ(fresh.all.listen, DeploymentOptions().listen);
  EXPECT_EQ(Read({"--fresh-settings", "--listen", "127.0.0.1:0"}).given.listen,
            "127.0.0.1:0");
}

}  // namespace
}  // namespace ordo::services::cli
