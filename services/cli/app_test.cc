#include "services/cli/app.h"

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using AppTest = testing::CliTest;

TEST_F(AppTest, WithoutACommandItSaysWhatThereIs) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err(), HasSubstr("submit"));
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out(), HasSubstr("submit"));
}

TEST_F(AppTest, UnknownCommandNamesTheNearest) {
  EXPECT_EQ(Run({"submitt", "x"}), 2);
  EXPECT_EQ(err(),
            "ordo: unknown command 'submitt'; did you mean 'submit'?; "
            "see 'ordo help'\n");
}

TEST_F(AppTest, WrongNumberOfArgumentsShowsTheUsage) {
  EXPECT_EQ(Run({"show"}), 2);
  EXPECT_EQ(err(), "ordo: an argument is missing; usage: ordo show NAME\n");
  EXPECT_EQ(Run({"show", "a", "b"}), 2);
  EXPECT_EQ(err(), "ordo: unexpected argument 'b'; usage: ordo show NAME\n");
}

TEST_F(AppTest, ServerComesFromTheOptionThenTheEnvironment) {
  const std::string right = client_.address;
  client_.address = "127.0.0.1:1";
  EXPECT_EQ(Run({"list", "--server", right}), 0);
  environment_["ORDO_SERVER"] = right;
  EXPECT_EQ(Run({"list"}), 0);
  environment_["ORDO_SERVER"] = "nonsense";
  EXPECT_EQ(Run({"list"}), 2);
  EXPECT_THAT(err(), HasSubstr("ORDO_SERVER"));
  EXPECT_EQ(Run({"list", "--server", right}), 0);
}

TEST_F(AppTest, CertificatesComeFromTheOptionsThenTheEnvironment) {
  EXPECT_EQ(Run({"list", "--ca", "/no/ca.pem"}), 2);
  EXPECT_THAT(err(), HasSubstr("--ca /no/ca.pem"));
  environment_["ORDO_CA"] = "/no/other.pem";
  EXPECT_EQ(Run({"list"}), 2);
  EXPECT_THAT(err(), HasSubstr("ORDO_CA /no/other.pem"));
  EXPECT_EQ(Run({"--ca", "/no/ca.pem", "list"}), 2);
  EXPECT_THAT(err(), HasSubstr("--ca /no/ca.pem"));
}

TEST_F(AppTest, ACertificateNeedsTheAuthorityOfTheOtherEnd) {
  EXPECT_EQ(Run({"list", "--certificate", "/a.pem", "--key", "/a.key"}), 2);
  EXPECT_THAT(err(), HasSubstr("--certificate needs --ca"));
  environment_["ORDO_KEY"] = "/a.key";
  EXPECT_EQ(Run({"list"}), 2);
  EXPECT_THAT(err(), HasSubstr("ORDO_KEY needs --ca"));
}

TEST_F(AppTest, ATokenComesFromTheOptionThenTheEnvironment) {
  environment_["ORDO_TOKEN_FILE"] = folder_.Path("none");
  EXPECT_EQ(Run({"version"}), 2);
  EXPECT_THAT(err(), HasSubstr("ORDO_TOKEN_FILE"));
  const std::string file = WriteFile("token", " ordo_x\n");
  EXPECT_EQ(Run({"version", "--token-file", file}), 0) << err();
  EXPECT_EQ(err(), "");
  EXPECT_EQ(Run({"version", "--token-file", WriteFile("two", "a b\n")}), 2);
  EXPECT_THAT(err(), HasSubstr("must hold one secret"));
  EXPECT_EQ(Run({"version", "--token-file", WriteFile("no", "\n")}), 2);
}

TEST_F(AppTest, ATokenThatOthersCanReadOnTheWayIsWarnedOf) {
  const std::string file = WriteFile("token", "ordo_x\n");
  EXPECT_EQ(Run({"version", "--token-file", file, "--server", "10.0.0.1:7420"}),
            0);
  EXPECT_THAT(err(), HasSubstr("goes to 10.0.0.1:7420 without TLS"));
}

TEST_F(AppTest, CommonOptionsMayStandBeforeTheCommand) {
  const std::string right = client_.address;
  client_.address = "127.0.0.1:1";
  EXPECT_EQ(Run({"--server", right, "-o", "json", "list", "jobs"}), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("{"));
  EXPECT_EQ(Run({"--server=" + right, "show", "--", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("no job"));
}

TEST_F(AppTest, HelpAndVersionMayStandBeforeTheCommand) {
  EXPECT_EQ(Run({"--help", "show"}), 0);
  EXPECT_THAT(out(), HasSubstr("ordo show NAME"));
  EXPECT_EQ(Run({"-o", "json", "--help"}), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("{\"help\":"));
  EXPECT_EQ(Run({"-o", "json", "--version"}), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("{\"build\":"));
}

TEST_F(AppTest, OtherOptionsBeforeTheCommandSayWhereTheyBelong) {
  EXPECT_EQ(Run({"--watch", "submit"}), 2);
  EXPECT_THAT(err(), HasSubstr("unknown option --watch"));
  EXPECT_THAT(err(),
              HasSubstr("; a command's own options come after its name"));
  EXPECT_EQ(Run({"-o", "json"}), 2);
  EXPECT_THAT(err(), HasSubstr("submit"));
}

TEST_F(AppTest, UnreachableServerIsExitCodeFour) {
  scheduler_.Leave();
  EXPECT_EQ(Run({"list"}), 4);
  EXPECT_THAT(err(), HasSubstr("cannot reach the scheduler at"));
}

TEST_F(AppTest, FieldViolationsStandOnALineEach) {
  const std::string file = WriteFile("a.yaml", "kind: train\nname: a\n");
  scheduler_.RefuseCreate(base::InvalidFields(
      {{"job.spec.data", "is missing"}, {"job.spec.training.steps", "is 0"}}));
  EXPECT_EQ(Run({"submit", file}), 2);
  EXPECT_EQ(err(), "ordo: refused; 2 things are wrong:\n  " + file +
                       ": data: is missing\n  " + file +
                       ": training.steps: is 0\n");
}

TEST_F(AppTest, BugOfTheServerIsExitCodeSeventy) {
  scheduler_.RefuseCreate(absl::InternalError("broken"));
  EXPECT_EQ(Run({"submit", WriteFile("a.yaml", "kind: train\nname: a\n")}), 70);
  EXPECT_EQ(err(), "ordo: broken [INTERNAL]\n");
}

}  // namespace
}  // namespace ordo::services::cli
