// The one numeric test of all kernels: table x problems.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/compare.h"
#include "kernels/attention/check/crossed.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/cpu_pairs.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/table.h"
#include "kernels/attention/testing/emulated_tiles.h"
#include "kernels/attention/testing/suite.h"
#include "kernels/common/cpu_features.h"
#include "kernels/common/testing/captured.h"
#include "kernels/common/testing/processor.h"
#include "kernels/cuda/testing/rows.h"

namespace ordo::kernels::attention {
namespace {

using check::Case;
using check::Crossed;
using check::RunOptions;
using cuda::testing::Library;

// Of a kernel's device. On a GPU rows begin where boxes of them can be copied:
// elsewhere cuda_hopper does not compute.
RunOptions OptionsFor(const Kernel& kernel) {
  RunOptions options;
  if (kernel.device != Device::kCuda) return options;
  options.memory = &Library()->memory;
  options.gap = 8;
  return options;
}

class AttentionTest
    : public ::testing::TestWithParam<std::tuple<Case, std::string>> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : Kernels()) {
      if (kernel.name == std::get<1>(GetParam())) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    case_ = std::get<0>(GetParam());
    case_.problem.device = kernel_->device;
    const absl::Status supported = kernel_->supports(case_.problem);
    if (!supported.ok()) GTEST_SKIP() << "skipped: " << supported.message();
  }

  Case case_;
  const Kernel* kernel_ = nullptr;
};

TEST_P(AttentionTest, IsNearTheReference) {
  RunOptions options = OptionsFor(*kernel_);
  options.threads = 2;
  testing::ExpectNearReference(case_, *kernel_, options);
}

TEST_P(AttentionTest, ThreadsAndWhereRowsBeginChangeNoBit) {
  RunOptions others = OptionsFor(*kernel_);
  others.threads = 3;
  others.gap = kernel_->device == Device::kCuda ? 16 : 8;
  testing::ExpectSameBits(case_, *kernel_, OptionsFor(*kernel_), others);
}

std::vector<std::string> KernelNames() {
  Library();
  static const bool added = [] {
    AddKernels(
        {PairKernel("_emulated_amx", testing::kEmulatedTiles, HasAvx512Bf16)});
    return true;
  }();
  static_cast<void>(added);
  return cuda::testing::NamesOf(Kernels());
}

// All rows after each other: what the judge says of a case is kept that long.
INSTANTIATE_TEST_SUITE_P(
    Table, AttentionTest,
    ::testing::Combine(::testing::ValuesIn(check::Problems()),
                       ::testing::ValuesIn(KernelNames())),
    [](const ::testing::TestParamInfo<std::tuple<Case, std::string>>& info) {
      return std::get<1>(info.param) + "_" + std::get<0>(info.param).label;
    });

std::vector<Case> CrossedInTypes() {
  std::vector<Case> cases;
  for (const Crossed& crossed : check::CrossedProblems(check::UsualSizes())) {
    cases.push_back(crossed.of);
    cases.push_back(check::InBfloat16(crossed.of));
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(
    Crossed, AttentionTest,
    ::testing::Combine(::testing::ValuesIn(CrossedInTypes()),
                       ::testing::ValuesIn(KernelNames())),
    [](const ::testing::TestParamInfo<std::tuple<Case, std::string>>& info) {
      return std::get<1>(info.param) + "_" + std::get<0>(info.param).label;
    });

// Every change at other sizes, for all rows that take it: most take few.
class SizedAttentionTest : public ::testing::TestWithParam<Case> {};

// Vectors are read where they lie only if rows begin where they do.
TEST_P(SizedAttentionTest, WhereverTheirRowsBeginAllAreNearTheReference) {
  KernelNames();
  for (const Kernel& kernel : Kernels()) {
    Case c = GetParam();
    c.problem.device = kernel.device;
    if (!kernel.supports(c.problem).ok()) continue;
    SCOPED_TRACE(kernel.name);
    RunOptions options = OptionsFor(kernel);
    testing::ExpectNearReference(c, kernel, options);
    if (kernel.device == Device::kCuda) continue;
    options.threads = 3;
    options.gap = 8;
    testing::ExpectNearReference(c, kernel, options);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SizedAttentionTest,
                         ::testing::ValuesIn(check::SizedProblems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

// What a family of rows takes at least of check::Problems().
const std::map<std::string, int>& FamilyProblems() {
  static const auto* const least = new std::map<std::string, int>{
      {"cpu_pairs", 53},   {"cpu_tiled", 158}, {"cpu_counted", 30},
      {"cuda_hopper", 43}, {"cuda_tiled", 68}, {"cuda_counted", 14}};
  return *least;
}

// Why none of the row's problems can be done here, or OK.
absl::Status IsPossible(const Kernel& kernel) {
  if (kernel.device == Device::kCpu) {
    return kernels::testing::HasInstructionsOf(kernel.name);
  }
  const char* const missing = Library()->missing_device();
  if (missing != nullptr) return absl::UnimplementedError(missing);
  const std::string device = Library()->device_text();
  if (device.find("sm_90") != std::string::npos) return absl::OkStatus();
  return absl::UnimplementedError("not built for " + device);
}

TEST(RowTest, TakesTheProblemsOfItsFamilyWhereItCanRun) {
  KernelNames();
  for (const Kernel& kernel : Kernels()) {
    const auto family = std::find_if(
        FamilyProblems().begin(), FamilyProblems().end(),
        [&](const auto& f) { return kernel.name.rfind(f.first, 0) == 0; });
    ASSERT_NE(family, FamilyProblems().end()) << kernel.name;
    int count = 0;
    for (Case c : check::Problems()) {
      c.problem.device = kernel.device;
      if (kernel.supports(c.problem).ok()) ++count;
    }
    EXPECT_GE(count, IsPossible(kernel).ok() ? family->second : 0)
        << kernel.name;
  }
}

// What a family of a processor's rows does: kinds of crossed.h, by what their
// names begin with, and whether it does them in fp32 too.
struct Done {
  std::string family;
  std::vector<std::string> kinds;
  bool in_fp32;
};

const std::vector<Done>& DoneOnProcessors() {
  static const auto* const done = new std::vector<Done>{
      {"cpu_tiled",
       {"rope", "kerple", "t5", "alibi", "huang", "da_transformer", "mod_",
        "shaw", "transformer_xl", "deberta", "rerope"},
       true},
      {"cpu_pairs",
       {"rope", "kerple", "t5", "alibi", "huang1", "da_transformer", "mod_"},
       false},
      {"cpu_counted", {"cope"}, true}};
  return *done;
}

bool BeginsWith(const std::string& text, const std::string& beginning) {
  return text.rfind(beginning, 0) == 0;
}

// Of a processor's row and a case that is named as crossed.h names it.
bool IsDone(const Kernel& kernel, const Case& c) {
  for (const Done& done : DoneOnProcessors()) {
    if (!BeginsWith(kernel.name, done.family)) continue;
    if (c.problem.type == Type::kFloat32 && !done.in_fp32) return false;
    return std::any_of(
        done.kinds.begin(), done.kinds.end(),
        [&](const std::string& kind) { return BeginsWith(c.label, kind); });
  }
  ADD_FAILURE() << kernel.name << " is of no family";
  return false;
}

// Whatever a kind meets, a row does it, or it does nothing of that kind and
// says what it does not do: nothing is refused in silence.
TEST(RowTest, OfAProcessorTakesItsKindsWithAnythingAndRefusesOthersByName) {
  KernelNames();
  for (const Kernel& kernel : Kernels()) {
    if (kernel.device != Device::kCpu || !IsPossible(kernel).ok()) continue;
    for (const Case& c : CrossedInTypes()) {
      const absl::Status status = kernel.supports(c.problem);
      if (IsDone(kernel, c)) {
        EXPECT_EQ(status, absl::OkStatus()) << kernel.name << " " << c.label;
        continue;
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented)
          << kernel.name << " " << c.label;
      EXPECT_THAT(std::string(status.message()),
                  ::testing::HasSubstr(" does not do "))
          << kernel.name << " " << c.label;
    }
  }
}

// One that any processor has.
TEST(RowTest, OfAnyProcessorTakesEachCrossedProblem) {
  for (const Case& c : CrossedInTypes()) {
    const auto takes = [&](const Kernel& kernel) {
      return (kernel.name == "cpu_tiled" || kernel.name == "cpu_counted") &&
             kernel.supports(c.problem).ok();
    };
    EXPECT_EQ(std::count_if(Kernels().begin(), Kernels().end(), takes), 1)
        << c.label;
  }
}

// Of a processor's rows.
void ExpectFamilyRefuses(const std::string& family, const Problem& problem,
                         const std::vector<testing::Refused>& refused) {
  KernelNames();
  int count = 0;
  for (const Kernel& kernel : Kernels()) {
    if (kernel.name.rfind(family, 0) != 0 || !IsPossible(kernel).ok()) continue;
    ++count;
    testing::ExpectRefused(kernel, problem, refused);
  }
  EXPECT_GT(count, family == "cpu_pairs" ? -1 : 0);
}

const testing::Refused kOnAGpu = {
    "does not do tensors on another device",
    [](Problem* p) { p->device = Device::kCuda; }};
const testing::Refused kBands[] = {
    {"does not do vectors of distances", [](Problem* p) { p->query_band = 8; }},
    {"does not do vectors of distances", [](Problem* p) { p->key_band = 8; }}};
const testing::Refused kByChannel = {"does not do products by channel",
                                     [](Problem* p) { p->by_channel = true; }};
const testing::Refused kFar = {"does not do a far product",
                               [](Problem* p) { p->far_from = 9; }};
const testing::Refused kSums = {"does not do sums of weights by distance",
                                [](Problem* p) { p->summed = true; }};
const testing::Refused kGates = {"does not do counted positions",
                                 [](Problem* p) { p->gates = Gates::kLogits; }};
const testing::Refused kHalves = {"does not do fp16",
                                  [](Problem* p) { p->type = Type::kFloat16; }};

TEST(RefusalTest, TiledRowsSayWhatTheyDoNotDo) {
  ExpectFamilyRefuses("cpu_tiled", check::Plain(70, 64),
                      {kOnAGpu,
                       kHalves,
                       {"does not do products of far pairs by channel",
                        [](Problem* p) {
                          p->by_channel = true;
                          p->far_from = 9;
                        }},
                       kGates});
}

TEST(RefusalTest, RowsOfPairsSayWhatTheyDoNotDo) {
  Problem problem = check::Plain(70, 64);
  problem.type = Type::kBfloat16;
  const testing::Refused single = {
      "does not do other types than bf16",
      [](Problem* p) { p->type = Type::kFloat32; }};
  ExpectFamilyRefuses(
      "cpu_pairs", problem,
      {kOnAGpu, single, kBands[0], kBands[1], kByChannel, kFar, kSums, kGates});
}

TEST(RefusalTest, CountedRowsSayWhatTheyDoNotDo) {
  Problem problem = check::Plain(70, 64);
  problem.gates = Gates::kLogits;
  problem.positions = 9;
  const testing::Refused uncounted = {
      "does not do positions that nothing counts",
      [](Problem* p) { p->gates = Gates::kNone; }};
  ExpectFamilyRefuses("cpu_counted", problem,
                      {kOnAGpu, kHalves, uncounted, kBands[0], kBands[1],
                       kByChannel, kFar, kSums});
}

// TAPE's state gets no gradient in some layers.
TEST(MissingGradientTest, IsZero) {
  Problem problem = check::Plain(70, 24);
  problem.num_values = 2;
  problem.values[1] = {48, problem.heads};
  Tensors judge = check::MakeTensors(problem, 3);
  judge.d_outputs[kMixed + 1].clear();
  const Tensors inputs = judge;
  ReferenceBackward(problem, &judge);
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports(problem).ok()) continue;
    Tensors found = inputs;
    EXPECT_EQ(check::RunKernel(problem, kernel, RunOptions(), &found), "");
    EXPECT_EQ(check::Largest(found.d_inputs[kValue + 1]), 0) << kernel.name;
    for (const Input input : {kQ, kK, kValue}) {
      EXPECT_LT(check::Distance(found.d_inputs[input], judge.d_inputs[input]),
                1e-5)
          << kernel.name << ": " << NameOf(input);
    }
  }
}

TEST(NotANumberTest, IsSeenByAllWhoSeeItsKeyOrAreItsQuery) {
  for (const Kernel& kernel : Kernels()) {
    if (kernel.device != Device::kCpu) continue;
    testing::ExpectNotANumberIsSeen(Type::kFloat32, kernel);
    testing::ExpectNotANumberIsSeen(Type::kBfloat16, kernel);
  }
}

TEST(FarKeysTest, AreLeftOutWhereABiasLeavesThemNoWeight) {
  for (const Kernel& kernel : Kernels()) {
    for (const Type type : {Type::kFloat32, Type::kBfloat16}) {
      testing::ExpectFarKeysAreLeftOut(type, kernel, OptionsFor(kernel));
    }
  }
}

class CudaTest : public ::testing::Test {
 protected:
  // That no row was tested on a device is said, and why.
  void SetUp() override {
    if (access(cuda::testing::kLibraryPath, F_OK) != 0) {
      GTEST_SKIP() << "skipped: no nvcc";
    }
    ASSERT_NE(Library(), nullptr);
    const char* const missing = Library()->missing_device();
    if (missing != nullptr) GTEST_SKIP() << "skipped: no device: " << missing;
  }
};

// Which a training step could be made of.
TEST_F(CudaTest, FromGraphsAllRowsGiveTheSameBits) {
  int count = 0;
  for (const Kernel& kernel : Kernels()) {
    if (kernel.device != Device::kCuda) continue;
    RunOptions options = OptionsFor(kernel);
    options.memory = &kernels::testing::CountedMemory(Library()->memory);
    for (const Case& c : check::SmallProblems(Device::kCuda)) {
      if (!kernel.supports(c.problem).ok()) continue;
      ++count;
      SCOPED_TRACE(kernel.name + " " + c.label);
      testing::ExpectSameBitsFromGraphs(c.problem, kernel, Library()->graphs,
                                        options);
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace ordo::kernels::attention
