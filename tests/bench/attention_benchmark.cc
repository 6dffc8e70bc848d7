#include "tests/bench/attention_benchmark.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status/status.h"
#include "tests/bench/attention_case.h"

namespace ordo::tests::bench {
namespace {

using kernels::Type;
using kernels::attention::Kernel;
using kernels::attention::Problem;

constexpr char kFlash[] = "libtorch_flash";
constexpr char kMaterialised[] = "libtorch_materialised";

// Something to run, and the row that its figures go to.
struct Contender {
  AttentionRow row;
  std::function<absl::StatusOr<AttentionRun>()> run;
};

// A class at a shape with all that runs it: flash attention first, then the
// table's rows, best first, then the way without kernels.
class Contest {
 public:
  static absl::StatusOr<std::unique_ptr<Contest>> Create(
      const AttentionOptions& options, const AttentionClass& about,
      const AttentionShape& shape) {
    auto made = std::make_unique<Contest>();
    ORDO_ASSIGN_OR_RETURN(made->case_, AttentionCase::Create(about, shape));
    AttentionRow& row = made->blank_;
    row.encoding = about.name;
    row.shape = shape;
    made->AddFlash();
    row.flop = CountFlop(about, made->case_->problem());
    row.bytes = CountBytes(about, made->case_->problem());
    ORDO_RETURN_IF_ERROR(made->AddKernels(options));
    return made;
  }

  void AddMaterialised() {
    Add(Runner::kMaterialised, kMaterialised,
        [this] { return case_->RunMaterialised(); });
  }

  // Drops what runs by `runner`.
  void Drop(Runner runner) {
    std::vector<Contender> kept;
    for (Contender& contender : contenders_) {
      if (contender.row.runner == runner) continue;
      kept.push_back(std::move(contender));
    }
    contenders_ = std::move(kept);
  }

  // Once each; what memory it takes. Gives back the seconds.
  absl::StatusOr<double> WarmUp() {
    double seconds = 0;
    for (Contender& contender : contenders_) {
      ORDO_ASSIGN_OR_RETURN(const AttentionRun run, contender.run());
      contender.row.peak_bytes = run.peak_bytes;
      seconds += run.forward_s + run.backward_s;
    }
    return seconds;
  }

  // Once each in turn; gives back the seconds.
  absl::StatusOr<double> Round() {
    double seconds = 0;
    AttentionRun flash;
    for (Contender& contender : contenders_) {
      ORDO_ASSIGN_OR_RETURN(const AttentionRun run, contender.run());
      AttentionRow& row = contender.row;
      if (row.runner == Runner::kFlash) flash = run;
      const double total_s = run.forward_s + run.backward_s;
      row.forward_s.push_back(run.forward_s);
      row.total_s.push_back(total_s);
      row.forward_ratio.push_back(run.forward_s / flash.forward_s);
      row.total_ratio.push_back(total_s / (flash.forward_s + flash.backward_s));
      seconds += total_s;
    }
    return seconds;
  }

  void MoveRowsTo(std::vector<AttentionRow>* rows) {
    for (Contender& contender : contenders_) {
      rows->push_back(std::move(contender.row));
    }
  }

 private:
  void Add(Runner runner, const std::string& name,
           std::function<absl::StatusOr<AttentionRun>()> run) {
    contenders_.push_back({blank_, std::move(run)});
    contenders_.back().row.runner = runner;
    contenders_.back().row.kernel = name;
  }

  void AddFlash() {
    Add(Runner::kFlash, kFlash, [this] { return case_->RunFlash(); });
    // Of one value tensor, whatever the class has.
    AttentionRow& row = contenders_.back().row;
    const AttentionClass& plain = AttentionClasses().front();
    const Problem problem = plain.problem(row.shape);
    row.flop = CountFlop(plain, problem);
    row.bytes = CountBytes(plain, problem);
  }

  absl::Status AddKernels(const AttentionOptions& options) {
    const Problem& problem = case_->problem();
    ORDO_ASSIGN_OR_RETURN(const Kernel* const selected,
                          options.select(problem));
    for (const Kernel& kernel : options.kernels) {
      const bool elsewhere = kernel.device != problem.device;
      if (elsewhere || !kernel.supports(problem).ok()) continue;
      Add(kernel.name == selected->name ? Runner::kSelected : Runner::kOther,
          kernel.name, [this, kernel] { return case_->RunKernel(kernel); });
    }
    return absl::OkStatus();
  }

  std::unique_ptr<AttentionCase> case_;
  AttentionRow blank_;
  std::vector<Contender> contenders_;
};

// Shares the time that there is among lengths, by their squares.
class Budget {
 public:
  // `classes` of each type are to be measured.
  Budget(const AttentionOptions& options, size_t classes)
      : seconds_(options.seconds_of_all) {
    for (const int64_t length : options.lengths) {
      weight_ += static_cast<double>(classes * options.types.size()) *
                 WeightOf(length);
    }
  }

  // Of the next one.
  double SecondsOf(int64_t length) const {
    return seconds_ * WeightOf(length) / weight_;
  }

  void Spend(int64_t length, double seconds) {
    seconds_ = std::max(seconds_ - seconds, 0.0);
    weight_ -= WeightOf(length);
  }

 private:
  // Short ones are measured more often.
  static double WeightOf(int64_t length) {
    constexpr double kShort = 1024;
    const auto x = static_cast<double>(length) / kShort;
    return 1 + x * x;
  }

  double seconds_;
  double weight_ = 0;
};

struct Timing {
  Budget budget;
  AttentionResults* results;
};

absl::Status TimeLength(const AttentionOptions& options,
                        const AttentionClass& about,
                        const AttentionShape& shape, Timing* timing) {
  ORDO_ASSIGN_OR_RETURN(const auto contest,
                        Contest::Create(options, about, shape));
  if (shape.length > options.other_rows_up_to) contest->Drop(Runner::kOther);
  if (about.learned_bias && shape.length <= options.materialised_up_to) {
    contest->AddMaterialised();
  }
  ORDO_ASSIGN_OR_RETURN(double seconds, contest->WarmUp());
  const double allowed = timing->budget.SecondsOf(shape.length);
  for (int round = 0; round < options.max_rounds; ++round) {
    const bool enough =
        round >= options.min_rounds && seconds > options.seconds_of_length;
    if (round > 0 && (enough || seconds > allowed)) break;
    ORDO_ASSIGN_OR_RETURN(const double more, contest->Round());
    seconds += more;
  }
  timing->budget.Spend(shape.length, seconds);
  contest->MoveRowsTo(&timing->results->rows);
  return absl::OkStatus();
}

absl::Status MeasureMemory(const AttentionOptions& options,
                           const AttentionClass& about,
                           AttentionResults* results) {
  const std::string first =
      results->memory.empty() ? about.name : results->memory[0].encoding;
  for (const int64_t length : options.memory_lengths) {
    AttentionShape shape = options.shape;
    shape.batch = 1;
    shape.heads = options.memory_heads;
    shape.length = length;
    ORDO_ASSIGN_OR_RETURN(const auto contest,
                          Contest::Create(options, about, shape));
    contest->Drop(Runner::kOther);
    // Its memory does not depend on the class.
    if (about.name != first) contest->Drop(Runner::kFlash);
    if (about.learned_bias && length <= options.materialised_memory_up_to) {
      contest->AddMaterialised();
    }
    ORDO_RETURN_IF_ERROR(contest->WarmUp().status());
    contest->MoveRowsTo(&results->memory);
  }
  return absl::OkStatus();
}

}  // namespace

AttentionOptions AttentionOptions::Quick() {
  AttentionOptions options;
  options.lengths = {128, 256};
  options.min_rounds = options.max_rounds = 2;
  options.memory_lengths = {256, 512};
  options.gemm_side = 512;
  options.copied_bytes = int64_t{16} << 20;
  return options;
}

absl::StatusOr<AttentionResults> RunAttention(
    const AttentionOptions& options, const AttentionProgress& progress) {
  AttentionResults results;
  results.threads = NumThreads();
  for (const Type type : options.types) {
    ORDO_ASSIGN_OR_RETURN(
        results.machine[type],
        MeasureMachine(type, options.gemm_side, options.copied_bytes));
  }
  std::vector<AttentionClass> taken;
  for (const AttentionClass& about : options.classes) {
    AttentionShape shape = options.shape;
    shape.length = options.lengths.front();
    const absl::Status why = options.select(about.problem(shape)).status();
    if (why.ok()) {
      taken.push_back(about);
    } else if (absl::IsUnimplemented(why)) {
      results.refused[about.name] = std::string(why.message());
    } else {
      return why;
    }
  }
  Timing timing = {Budget(options, taken.size()), &results};
  for (const AttentionClass& about : taken) {
    for (const Type type : options.types) {
      for (const int64_t length : options.lengths) {
        AttentionShape shape = options.shape;
        shape.type = type;
        shape.length = length;
        ORDO_RETURN_IF_ERROR(TimeLength(options, about, shape, &timing));
      }
      progress(about, type, results);
    }
  }
  for (const AttentionClass& about : taken) {
    ORDO_RETURN_IF_ERROR(MeasureMemory(options, about, &results));
  }
  return results;
}

}  // namespace ordo::tests::bench
