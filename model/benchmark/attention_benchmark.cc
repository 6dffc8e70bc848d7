#include "model/benchmark/attention_benchmark.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status/status.h"
#include "kernels/common/left_out.h"
#include "model/benchmark/attention_case.h"
#include "model/benchmark/pulse.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Type;
using kernels::attention::Kernel;
using kernels::attention::Problem;

constexpr char kFlash[] = "libtorch_flash";
constexpr char kCudnn[] = "libtorch_cudnn";
constexpr char kMaterialised[] = "libtorch_materialised";

// The shape on the device, in the type.
AttentionShape Placed(const AttentionOptions& options, Type type,
                      AttentionShape shape) {
  shape.device = options.device;
  shape.type = type;
  return shape;
}

// Logits, weights and their gradients, in fp32.
bool HasRoomForMaps(const AttentionOptions& options,
                    const AttentionShape& shape) {
  const auto length = static_cast<double>(shape.length);
  const auto maps = static_cast<double>(shape.batch * shape.heads);
  return 4 * 4 * maps * length * length <= options.materialised_bytes;
}

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
    row.has_backward = options.backward;
    made->backward_ = options.backward;
    made->AddFlash();
    row.flop = CountFlop(about, made->case_->problem());
    row.bytes = CountBytes(about, made->case_->problem());
    ORDO_RETURN_IF_ERROR(made->AddKernels(options));
    // The fastest of stock attention there.
    if (options.device != kernels::Device::kCpu) {
      made->Add(Runner::kOther, kCudnn, [&contest = *made] {
        return contest.case_->RunLibTorch(/*cudnn=*/true, contest.backward_);
      });
    }
    return made;
  }

  void AddMaterialised() {
    Add(Runner::kMaterialised, kMaterialised,
        [this] { return case_->RunMaterialised(backward_); });
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
  absl::StatusOr<double> WarmUp(Pulse* pulse) {
    double seconds = 0;
    for (Contender& contender : contenders_) {
      ORDO_ASSIGN_OR_RETURN(const AttentionRun run, contender.run());
      contender.row.peak_bytes = run.peak_bytes;
      const double total_s = run.forward_s + run.backward_s;
      seconds += total_s;
      ORDO_RETURN_IF_ERROR(pulse->AfterRun(total_s));
    }
    return seconds;
  }

  // Once each in turn; gives back the seconds.
  absl::StatusOr<double> Round(Pulse* pulse) {
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
      ORDO_RETURN_IF_ERROR(pulse->AfterRun(total_s));
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
    Add(Runner::kFlash, kFlash,
        [this] { return case_->RunLibTorch(/*cudnn=*/false, backward_); });
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
      if (elsewhere || !kernels::CheckLeftIn("attention", kernel.name).ok() ||
          !kernel.supports(problem).ok()) {
        continue;
      }
      Add(kernel.name == selected->name ? Runner::kSelected : Runner::kOther,
          kernel.name,
          [this, kernel] { return case_->RunKernel(kernel, backward_); });
    }
    return absl::OkStatus();
  }

  std::unique_ptr<AttentionCase> case_;
  AttentionRow blank_;
  bool backward_ = true;
  std::vector<Contender> contenders_;
};

// Shares the time that there is among shapes, by their work.
class Budget {
 public:
  // `classes` of each type are to be measured.
  Budget(const AttentionOptions& options, size_t classes)
      : seconds_(options.seconds_of_all) {
    for (const AttentionShape& shape : options.shapes) {
      weight_ +=
          static_cast<double>(classes * options.types.size()) * WeightOf(shape);
    }
  }

  // Of the next one.
  double SecondsOf(const AttentionShape& shape) const {
    return seconds_ * WeightOf(shape) / weight_;
  }

  void Spend(const AttentionShape& shape, double seconds) {
    seconds_ = std::max(seconds_ - seconds, 0.0);
    weight_ -= WeightOf(shape);
  }

 private:
  // Small ones are measured more often.
  static double WeightOf(const AttentionShape& shape) {
    constexpr double kSmall = 1024.0 * 1024 * 2 * 12 * 64;
    return 1 +
           static_cast<double>(shape.length * shape.length) *
               static_cast<double>(shape.batch * shape.heads * shape.width) /
               kSmall;
  }

  double seconds_;
  double weight_ = 0;
};

struct Timing {
  Budget budget;
  AttentionResults* results;
  Pulse* pulse;
};

absl::Status TimeShape(const AttentionOptions& options,
                       const AttentionClass& about, const AttentionShape& shape,
                       Timing* timing) {
  const absl::Status taken = options.select(about.problem(shape)).status();
  if (absl::IsUnimplemented(taken)) {
    timing->budget.Spend(shape, 0);
    timing->pulse->ShapeIsDone();
    return absl::OkStatus();
  }
  ORDO_ASSIGN_OR_RETURN(const auto contest,
                        Contest::Create(options, about, shape));
  if (shape.length > options.other_rows_up_to) contest->Drop(Runner::kOther);
  if (about.learned_bias && shape.length <= options.materialised_up_to &&
      HasRoomForMaps(options, shape)) {
    contest->AddMaterialised();
  }
  ORDO_ASSIGN_OR_RETURN(double seconds, contest->WarmUp(timing->pulse));
  const double allowed = timing->budget.SecondsOf(shape);
  for (int round = 0; round < options.max_rounds; ++round) {
    const bool enough =
        round >= options.min_rounds && seconds > options.seconds_of_shape;
    if (round > 0 && (enough || seconds > allowed)) break;
    ORDO_ASSIGN_OR_RETURN(const double more, contest->Round(timing->pulse));
    seconds += more;
  }
  timing->budget.Spend(shape, seconds);
  contest->MoveRowsTo(&timing->results->rows);
  timing->pulse->ShapeIsDone();
  return absl::OkStatus();
}

// Of one row with few heads.
std::vector<AttentionShape> MemoryShapes(const AttentionOptions& options) {
  std::vector<AttentionShape> shapes;
  for (const Type type : options.types) {
    for (const int64_t length : options.memory_lengths) {
      AttentionShape& shape =
          shapes.emplace_back(Placed(options, type, options.shapes.front()));
      shape.batch = 1;
      shape.heads = options.memory_heads;
      shape.length = length;
    }
  }
  return shapes;
}

absl::Status MeasureMemory(const AttentionOptions& options,
                           const AttentionClass& about, Pulse* pulse,
                           AttentionResults* results) {
  const std::string first =
      results->memory.empty() ? about.name : results->memory[0].encoding;
  for (const AttentionShape& shape : MemoryShapes(options)) {
    const absl::Status taken = options.select(about.problem(shape)).status();
    if (absl::IsUnimplemented(taken)) continue;
    ORDO_ASSIGN_OR_RETURN(const auto contest,
                          Contest::Create(options, about, shape));
    contest->Drop(Runner::kOther);
    // Its memory does not depend on the class.
    if (about.name != first) contest->Drop(Runner::kFlash);
    if (about.learned_bias &&
        shape.length <= options.materialised_memory_up_to &&
        HasRoomForMaps(options, shape)) {
      contest->AddMaterialised();
    }
    ORDO_RETURN_IF_ERROR(contest->WarmUp(pulse).status());
    contest->MoveRowsTo(&results->memory);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<AttentionShape> StandardShapes(kernels::Device device) {
  std::vector<AttentionShape> shapes;
  const auto add = [&](int64_t rows, int64_t heads, int64_t length,
                       int64_t width) {
    AttentionShape shape;
    shape.batch = rows;
    shape.heads = heads;
    shape.length = length;
    shape.width = width;
    shape.device = device;
    shapes.push_back(shape);
  };
  if (device == kernels::Device::kCpu) {
    for (int64_t n = 256; n <= 4096; n *= 2) add(2, 12, n, 64);
    return shapes;
  }
  for (int64_t n = 512; n <= 16384; n *= 2) add(32768 / n, 12, n, 64);
  for (int64_t n = 512; n <= 16384; n *= 2) add(16384 / n, 32, n, 128);
  return shapes;
}

AttentionOptions AttentionOptions::For(kernels::Device device) {
  AttentionOptions options;
  options.device = device;
  options.shapes = StandardShapes(device);
  if (device == kernels::Device::kCpu) return options;
  options.types = {Type::kBfloat16};
  options.other_rows_up_to = options.shapes.back().length;
  options.materialised_bytes = 16.0 * (1 << 30);
  // A GPU is not busy with small matrices, and its caches are large.
  options.gemm_side = 8192;
  options.copied_bytes = int64_t{1} << 30;
  return options;
}

AttentionOptions AttentionOptions::Quick() const {
  AttentionOptions options = *this;
  AttentionShape shape = shapes.front();
  shape.batch = 2;
  options.shapes.clear();
  for (const int64_t length : {128, 256}) {
    shape.length = length;
    options.shapes.push_back(shape);
  }
  options.min_rounds = options.max_rounds = 2;
  options.memory_lengths = {256, 512};
  options.gemm_side = 512;
  options.copied_bytes = int64_t{16} << 20;
  return options;
}

namespace {

// Those that a kernel takes in some type at some shape; notes why not others.
absl::StatusOr<std::vector<AttentionClass>> Taken(
    const AttentionOptions& options, AttentionResults* results) {
  std::vector<AttentionClass> taken;
  for (const AttentionClass& about : options.classes) {
    bool is_taken = false;
    std::string why_not;
    for (const Type type : options.types) {
      for (const AttentionShape& shape : options.shapes) {
        const Problem problem = about.problem(Placed(options, type, shape));
        const absl::Status why = options.select(problem).status();
        if (!why.ok() && !absl::IsUnimplemented(why)) return why;
        is_taken = is_taken || why.ok();
        if (!why.ok()) why_not = std::string(why.message());
      }
    }
    if (is_taken) {
      taken.push_back(about);
    } else {
      results->refused[about.name] = why_not;
    }
  }
  return taken;
}

}  // namespace

absl::StatusOr<AttentionResults> RunAttention(
    const AttentionOptions& options, const AttentionProgress& progress) {
  AttentionResults results;
  results.threads = NumThreads();
  results.device = options.device;
  results.gpu = options.gpu;
  ORDO_ASSIGN_OR_RETURN(const std::vector<AttentionClass> taken,
                        Taken(options, &results));
  if (taken.empty()) return results;
  for (const Type type : options.types) {
    ORDO_ASSIGN_OR_RETURN(
        results.machine[type],
        MeasureMachine(
            {options.device, type, options.gemm_side, options.copied_bytes}));
  }
  Pulse pulse(options,
              taken.size() * options.types.size() * options.shapes.size());
  Timing timing = {Budget(options, taken.size()), &results, &pulse};
  for (const AttentionClass& about : taken) {
    for (const Type type : options.types) {
      for (const AttentionShape& shape : options.shapes) {
        ORDO_RETURN_IF_ERROR(
            TimeShape(options, about, Placed(options, type, shape), &timing));
      }
      progress(about, type, results);
    }
  }
  for (const AttentionClass& about : taken) {
    ORDO_RETURN_IF_ERROR(MeasureMemory(options, about, &pulse, &results));
  }
  return results;
}

}  // namespace ordo::model::benchmark
