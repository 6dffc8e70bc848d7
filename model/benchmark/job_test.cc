#include "model/benchmark/job.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/table.h"
#include "kernels/common/left_out.h"
#include "model/catalog/resolve.h"

namespace ordo::model::benchmark {
namespace {

namespace v1 = ::ordo::training::v1;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

// Two short shapes of one class, once.
v1::BenchmarkSpec Tiny() {
  v1::BenchmarkSpec spec;
  spec.set_job("a");
  spec.set_attempt(2);
  v1::Benchmark& benchmark = *spec.mutable_benchmark();
  benchmark.add_classes("t5");
  benchmark.add_types("fp32");
  for (const int length : {5, 9}) {
    v1::BenchmarkShape& shape = *benchmark.add_shapes();
    shape.set_length(length);
    shape.set_batch(1);
    shape.set_heads(2);
    shape.set_width(8);
  }
  benchmark.set_rounds(1);
  const auto resolved = catalog::ResolveBenchmarkSpec(spec);
  ORDO_EXPECT_OK(resolved);
  return *resolved;
}

TEST(JobTest, MeasuresWhatIsAskedForAndReportsIt) {
  const v1::BenchmarkSpec spec = Tiny();
  std::vector<int64_t> done;
  JobHooks hooks;
  hooks.on_shape = [&](int64_t num_done, int64_t num_total) {
    done.push_back(num_done);
    EXPECT_EQ(num_total, 2);
  };
  ORDO_ASSERT_OK_AND_ASSIGN(const AttentionResults results,
                            RunJob(spec, hooks));
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
  const base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(const v1::ReportWritten report,
                            WriteReport(files, folder.path(), spec, results));
  EXPECT_EQ(report.id(), "attention");
  EXPECT_EQ(report.kind(), "benchmark");
  EXPECT_EQ(report.folder(), "results/attention-2");
  EXPECT_EQ(report.files_size(), 3);
  EXPECT_THAT(report.metrics(), ElementsAre(Key("fwd_bwd_ratio_t5_fp32")));
  const auto read = [&](const std::string& name) {
    return *base::ReadFile(files, folder.Path("results/attention-2/" + name),
                           1 << 20);
  };
  EXPECT_THAT(read("table.md"),
              HasSubstr("t5: a learned bias of the distance"));
  const std::string lines = read("figures.jsonl");
  EXPECT_THAT(lines, HasSubstr("\"fwd_bwd_ratio\""));
  EXPECT_THAT(lines, HasSubstr("\"N\":\"9\""));
  EXPECT_THAT(lines, Not(HasSubstr("rope")));
  EXPECT_THAT(read("result.json"), HasSubstr("\"job\": \"a\""));
}

TEST(JobTest, ForwardPassesAloneHaveNoOtherFigures) {
  v1::BenchmarkSpec spec = Tiny();
  spec.mutable_benchmark()->set_passes("forward");
  ORDO_ASSERT_OK_AND_ASSIGN(const AttentionResults results, RunJob(spec, {}));
  for (const Measurement& measurement : MeasurementsOf(results)) {
    EXPECT_THAT(measurement.metric, Not(HasSubstr("bwd")));
  }
  for (const AttentionRow& row : results.rows) {
    EXPECT_EQ(row.forward_s, row.total_s);
  }
}

TEST(JobTest, WhereNothingCanBeMeasuredTheFieldsAreNamed) {
  std::set<std::string> all;
  for (const auto& kernel : kernels::attention::Kernels()) {
    all.insert("attention/" + kernel.name);
  }
  kernels::LeaveOut(all);
  EXPECT_THAT(RunJob(Tiny(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::AllOf(HasSubstr("benchmark.types: no kernel"),
                                        HasSubstr("benchmark.classes"),
                                        HasSubstr("benchmark.shapes: t5: "))));
  kernels::LeaveOut({});
}

// Both tools measure the same where nothing is asked for.
TEST(JobTest, ShapesAreTheStandardOnesOfTheDevice) {
  for (const auto device : {kernels::Device::kCpu, kernels::Device::kCuda}) {
    v1::BenchmarkSpec spec;
    if (device == kernels::Device::kCuda) {
      spec.mutable_resources()->set_device("cuda");
    }
    const auto resolved = catalog::ResolveBenchmarkSpec(spec);
    ORDO_ASSERT_OK(resolved);
    const auto asked = OptionsOf(resolved->benchmark(), device).shapes;
    const auto standard = StandardShapes(device);
    ASSERT_EQ(asked.size(), standard.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(asked[i].batch, standard[i].batch) << i;
      EXPECT_EQ(asked[i].heads, standard[i].heads) << i;
      EXPECT_EQ(asked[i].length, standard[i].length) << i;
      EXPECT_EQ(asked[i].width, standard[i].width) << i;
    }
  }
}

TEST(JobTest, AStopEndsItBeforeTheNextRun) {
  JobHooks hooks;
  hooks.should_stop = [] { return true; };
  EXPECT_THAT(RunJob(Tiny(), hooks),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
}

// The catalogue names what can be asked for; here is what is measured.
TEST(JobTest, ClassesAreThoseThatTheCatalogueNames) {
  const auto resolved = catalog::ResolveBenchmarkSpec({});
  ORDO_ASSERT_OK(resolved);
  std::vector<std::string> measured;
  for (const AttentionClass& about : AttentionClasses()) {
    measured.push_back(about.name);
    EXPECT_NE(TextOf(about), "") << about.name;
  }
  EXPECT_THAT(measured, ::testing::UnorderedElementsAreArray(
                            resolved->benchmark().classes()));
}

}  // namespace
}  // namespace ordo::model::benchmark
