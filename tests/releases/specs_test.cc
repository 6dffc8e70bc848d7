// A job that asks for nothing that an earlier release does not know has the
// spec that it had there, so that workers and trainers of that release take it:
// README.md. To record the specs of this release, for those to come:
//
//   ORDO_RECORD=/absolute/folder bazel test //tests/releases:specs_test
//       --test_env=ORDO_RECORD --spawn_strategy=local

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::tests::releases {
namespace {

using jobs::v1::JobSpec;

constexpr size_t kMaxBytes = 1 << 20;
constexpr char kRecorded[] = "tests/releases/v5/specs.txt";

// One job of each kind, with no more than is required; of a benchmark's
// classes, which become more with each encoding, one.
std::vector<JobSpec> Jobs() {
  JobSpec train;
  train.set_name("train");
  train.set_kind(JobSpec::TRAIN);
  train.mutable_encoding()->set_name("rope");
  train.mutable_data()->set_task("addition");
  train.mutable_training()->set_steps(10);
  JobSpec evaluate;
  evaluate.set_name("evaluate");
  evaluate.set_kind(JobSpec::EVALUATE);
  evaluate.add_checkpoints("jobs/train");
  evaluate.add_evaluations()->set_task("addition_grid");
  JobSpec benchmark;
  benchmark.set_name("benchmark");
  benchmark.set_kind(JobSpec::BENCHMARK);
  benchmark.mutable_benchmark()->add_classes("rope");
  return {train, evaluate, benchmark};
}

TEST(SpecsTest, AJobThatAsksForNothingNewHasTheSpecOfTheReleaseBefore) {
  base::PosixFilesystem files;
  std::string text;
  for (const JobSpec& job : Jobs()) {
    ORDO_ASSERT_OK_AND_ASSIGN(const JobSpec resolved,
                              services::spec::ResolveJobSpec(job));
    absl::StrAppend(&text, resolved.ShortDebugString(), "\n");
  }
  const char* record = std::getenv("ORDO_RECORD");
  if (record != nullptr) {
    ORDO_ASSERT_OK(
        base::AtomicWrite(files, absl::StrCat(record, "/specs.txt"), text));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string recorded,
                            base::ReadFile(files, kRecorded, kMaxBytes));
  EXPECT_EQ(text, recorded);
}

}  // namespace
}  // namespace ordo::tests::releases
