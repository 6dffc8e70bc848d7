#include "report/summary/testing/parts.h"

#include "absl/strings/str_cat.h"

namespace ordo::report::summary::testing {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

PartResult FinishedRun(const std::string& arm, uint64_t seed, double score) {
  PartResult part;
  part.set_job(absl::StrCat("c-", arm, "-s", seed));
  part.set_part(arm);
  part.set_seed(seed);
  part.set_state("SUCCEEDED");
  part.set_build_digest("b0");
  auto& control = *part.mutable_control();
  control.set_initial_digest(absl::StrCat("1717171717170", seed));
  control.set_device("cpu avx2");
  (*control.mutable_environment())["threads"] = "2";
  (*control.mutable_environment())["libraries"] = "2.11.0 11b411b411b411b4";
  control.set_precision("fp32");
  control.set_deterministic(true);
  control.set_num_parameters(1000);
  control.set_num_encoding_parameters(arm == "rope" ? 0 : 10);
  control.set_step_flops(2e9);
  part.set_exact(true);
  part.mutable_checkpoint()->set_name(
      absl::StrCat("jobs/", part.job(), "/checkpoints/100-1"));
  part.mutable_checkpoint()->set_step(100);
  part.mutable_checkpoint()->set_manifest_sha256("c0ffee");
  part.set_data_digest(absl::StrCat("d474d474d474", seed));
  part.set_tokens(6400);
  part.set_device_seconds(arm == "rope" ? 10 : 12);
  part.set_attempts(1);
  PartResult::Report& report = *part.add_reports();
  report.set_evaluation("grid");
  report.set_task("addition_grid");
  report.set_step(100);
  report.set_path(absl::StrCat("jobs/", part.job(), "/results/grid-100-1"));
  report.set_checkpoint(part.checkpoint().name());
  (*report.mutable_metrics())["grid_mean"] = score;
  return part;
}

SummarizeSpec EmptyComparison() {
  SummarizeSpec spec;
  spec.set_job("c");
  spec.set_attempt(1);
  spec.set_kind("comparison");
  spec.mutable_comparison()->set_baseline("rope");
  spec.mutable_comparison()->set_confidence(0.95);
  spec.mutable_comparison()->add_differs("encoding");
  return spec;
}

SummarizeSpec RopeAndTape() {
  SummarizeSpec spec = EmptyComparison();
  constexpr double kRope[] = {0.5, 0.52, 0.48};
  constexpr double kTape[] = {0.7, 0.73, 0.67};
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    *spec.add_parts() = FinishedRun("rope", seed, kRope[seed - 1]);
  }
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    *spec.add_parts() = FinishedRun("tape", seed, kTape[seed - 1]);
  }
  return spec;
}

std::vector<PartRecords> RecordsOf(const SummarizeSpec& spec) {
  std::vector<PartRecords> records;
  for (const PartResult& part : spec.parts()) {
    PartRecords& of_part = records.emplace_back();
    for (const PartResult::Report& report : part.reports()) {
      of_part.questions[report.path()] = "9e5710259e571025";
    }
  }
  return records;
}

}  // namespace ordo::report::summary::testing
