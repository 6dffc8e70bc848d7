#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using GetTest = testing::CliTest;

class GetFilesTest : public testing::CliTest {
 protected:
  GetFilesTest() {
    reports::v1::Report report;
    report.set_name("jobs/a/reports/grid-20");
    scheduler_.AddReport(
        report, {{"result.json", "{\"a\": 1}"}, {"tables/grid.csv", "1,2\n"}});
  }
  std::string Read(const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), 1000)
        .value_or("(nothing)");
  }
};

TEST_F(GetFilesTest, FetchesAWholeFolder) {
  EXPECT_EQ(Run({"get", "jobs/a/reports/grid-20", "--out", folder_.Path("x")}),
            0);
  EXPECT_EQ(Read("x/result.json"), "{\"a\": 1}");
  EXPECT_EQ(Read("x/tables/grid.csv"), "1,2\n");
  EXPECT_EQ(out(), folder_.Path("x/result.json") + "  8 B\n" +
                       folder_.Path("x/tables/grid.csv") + "  4 B\n");
}

TEST_F(GetFilesTest, FetchesOneFileIntoAFolderOrUnderANewName) {
  EXPECT_EQ(Run({"get", "jobs/a/reports/grid-20:tables/grid.csv", "--out",
                 folder_.path()}),
            0);
  EXPECT_EQ(Read("grid.csv"), "1,2\n");
  EXPECT_EQ(Run({"get", "jobs/a/reports/grid-20:tables/grid.csv", "--out",
                 folder_.Path("other.csv"), "-o", "json"}),
            0);
  EXPECT_EQ(Read("other.csv"), "1,2\n");
  EXPECT_THAT(out(), HasSubstr("\"path\":\"tables/grid.csv\""));
}

TEST_F(GetFilesTest, WrongFileNamesTheNearest) {
  EXPECT_EQ(Run({"get", "jobs/a/reports/grid-20:resul.json"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'result.json'"));
}

TEST_F(GetFilesTest, ServerCannotWriteElsewhere) {
  reports::v1::Report report;
  report.set_name("jobs/a/reports/evil-1");
  scheduler_.AddReport(report, {{"../evil", "x"}});
  EXPECT_EQ(Run({"get", "jobs/a/reports/evil-1", "--out", folder_.Path("x")}),
            2);
  EXPECT_EQ(Read("evil"), "(nothing)");
}

TEST_F(GetFilesTest, ACheckpointComesWithItsManifest) {
  constexpr char kName[] = "jobs/a/checkpoints/20-1";
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name(kName);
  auto* file = checkpoint.add_files();
  file->set_path("model.safetensors");
  file->set_size_bytes(7);
  file->set_sha256(base::Sha256Hex("weights"));
  checkpoint.set_manifest_sha256(base::Sha256Hex("{}"));
  scheduler_.AddCheckpoint(checkpoint);
  scheduler_.SetFile(kName, "model.safetensors", "weights");
  scheduler_.SetFile(kName, "MANIFEST.json", "{}");
  EXPECT_EQ(Run({"get", kName, "--out", folder_.Path("x")}), 0) << err();
  EXPECT_EQ(Read("x/model.safetensors"), "weights");
  EXPECT_EQ(Read("x/MANIFEST.json"), "{}");
  EXPECT_THAT(out(), HasSubstr(folder_.Path("x/MANIFEST.json") + "  2 B\n"));
  EXPECT_EQ(Run({"get", std::string(kName) + ":MANIFEST.json", "--out",
                 folder_.Path("manifest")}),
            0)
      << err();
  EXPECT_EQ(Read("manifest"), "{}");
}

TEST_F(GetFilesTest, AManifestThatIsRegisteredIsFetchedOnce) {
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/20-1");
  checkpoint.set_manifest_sha256(base::Sha256Hex("{}"));
  auto* file = checkpoint.add_files();
  file->set_path("MANIFEST.json");
  file->set_size_bytes(2);
  file->set_sha256(base::Sha256Hex("{}"));
  scheduler_.AddCheckpoint(checkpoint);
  scheduler_.SetFile(checkpoint.name(), "MANIFEST.json", "{}");
  EXPECT_EQ(Run({"get", checkpoint.name(), "--out", folder_.Path("x")}), 0)
      << err();
  EXPECT_EQ(out(), folder_.Path("x/MANIFEST.json") + "  2 B\n");
}

TEST_F(GetFilesTest, ADamagedManifestIsNotKept) {
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/20-1");
  checkpoint.set_manifest_sha256(base::Sha256Hex("{}"));
  scheduler_.AddCheckpoint(checkpoint);
  scheduler_.SetFile(checkpoint.name(), "MANIFEST.json", "{ }");
  EXPECT_EQ(Run({"get", checkpoint.name(), "--out", folder_.Path("x")}), 9);
  EXPECT_THAT(err(), HasSubstr("not what was registered"));
  EXPECT_EQ(Read("x/MANIFEST.json"), "(nothing)");
}

TEST_F(GetFilesTest, RemovedCheckpointIsToldAsSuch) {
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/20-1");
  checkpoint.set_state(checkpoints::v1::Checkpoint::DELETED);
  scheduler_.AddCheckpoint(checkpoint);
  EXPECT_EQ(Run({"get", "jobs/a/checkpoints/20-1"}), 2);
  EXPECT_THAT(err(), HasSubstr("was removed"));
}

TEST_F(GetTest, JobsHaveNoFiles) {
  EXPECT_EQ(Run({"get", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("'a' has no files"));
}

class GetNamedTest : public testing::LoopbackCliTest {};

TEST_F(GetNamedTest, FetchesWhatAnAliasNames) {
  PutJob("a", jobs::v1::Job::SUCCEEDED);
  PutCheckpoint("jobs/a/checkpoints/20-1");
  EXPECT_EQ(Run({"alias", "set", "main", "a"}), 0) << err();
  EXPECT_EQ(
      Run({"get", "aliases/main:model.safetensors", "--out", folder_.path()}),
      0)
      << err();
  EXPECT_EQ(base::ReadFile(files_, folder_.Path("model.safetensors"), 1000)
                .value_or(""),
            "bytes of jobs/a/checkpoints/20-1");
}

}  // namespace
}  // namespace ordo::services::cli
