#include "kernels/attention/table.h"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels::attention {
namespace {

using ::testing::HasSubstr;

Problem Valid() {
  Problem p;
  p.batch = 1;
  p.heads = 4;
  p.key_heads = 2;
  p.queries = p.keys = 8;
  p.width = 16;
  p.values[0] = {16, 2};
  return p;
}

TEST(TableTest, NamesAreUnique) {
  std::set<std::string> names;
  for (const Kernel& kernel : Kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
  }
}

TEST(TableTest, TheFirstThatSupportsAProblemIsTaken) {
  const auto kernel = Select(Valid(), "");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (const Kernel& row : Kernels()) {
    if (&row == *kernel) break;
    EXPECT_FALSE(row.supports(Valid()).ok()) << row.name;
  }
}

TEST(TableTest, AKernelCanBeNamed) {
  const auto kernel = Select(Valid(), "cpu_tiled");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ((*kernel)->name, "cpu_tiled");
  const absl::Status unknown = Select(Valid(), "cpu_tilde").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("\"cpu_tilde\""));
}

TEST(TableTest, NoKernelOfAProcessorTakesFloat16) {
  Problem problem = Valid();
  problem.type = Type::kFloat16;
  for (const Kernel& kernel : Kernels()) {
    EXPECT_EQ(kernel.supports(problem).code(), absl::StatusCode::kUnimplemented)
        << kernel.name;
  }
  const absl::Status status = Select(problem, "cpu_tiled").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not do fp16"));
  // No row is named that has nothing to do with it.
  const absl::Status any = Select(problem, "").status();
  EXPECT_EQ(any.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(any.message()),
              ::testing::MatchesRegex("attention: no kernel does this in fp16; "
                                      "cpu_tiled.* does it in fp32"));
}

TEST(TableTest, SumsOfWeightsAreOfFewDistances) {
  Problem problem = Valid();
  problem.reach = 1025;
  EXPECT_TRUE(Select(problem, "").ok());
  problem.summed = true;
  for (const char* const name : {"", "cpu_tiled"}) {
    const absl::Status status = Select(problem, name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("up to 1024, and reach is 1025"));
  }
  problem.reach = 1024;
  EXPECT_TRUE(Select(problem, "").ok());
}

TEST(TableTest, TermsOfPositionsAreOfFewPositions) {
  Problem problem = Valid();
  problem.gates = Gates::kLogits;
  problem.positions = 1026;
  for (const char* const name : {"", "cpu_counted"}) {
    const absl::Status status = Select(problem, name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("at most 1025, and positions is 1026"));
  }
  problem.positions = 1025;
  EXPECT_TRUE(Select(problem, "").ok());
}

TEST(TableTest, NoKernelOfAProcessorTakesTensorsOnAGpu) {
  Problem problem = Valid();
  problem.device = Device::kCuda;
  const absl::Status status = Select(problem, "cpu_tiled").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("another device"));
}

TEST(TableTest, AKernelThatIsAddedCanBeNamedAndMovesNoOther) {
  const Kernel* const first = &Kernels().front();
  Kernel added = **Select(Valid(), "");
  added.name = "added";
  AddKernels({added});
  EXPECT_EQ(&Kernels().front(), first);
  const auto kernel = Select(Valid(), "added");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ((*kernel)->name, "added");
}

TEST(TableTest, AProblemThatMakesNoSenseIsRefusedByItsField) {
  const std::vector<std::pair<std::string, std::function<void(Problem*)>>>
      mistakes = {
          {"batch must be", [](Problem* p) { p->batch = 0; }},
          {"heads must be", [](Problem* p) { p->heads = 0; }},
          {"key_heads must divide heads", [](Problem* p) { p->key_heads = 3; }},
          {"queries must be", [](Problem* p) { p->queries = 0; }},
          {"keys must be at least", [](Problem* p) { p->keys = 7; }},
          {"width must be", [](Problem* p) { p->width = 0; }},
          {"num_values must be in 1..3", [](Problem* p) { p->num_values = 4; }},
          {"values.width must be", [](Problem* p) { p->values[0].width = 0; }},
          {"values.heads must be heads or key_heads",
           [](Problem* p) { p->values[0].heads = 1; }},
          {"reach must not be", [](Problem* p) { p->reach = -1; }},
          {"pieces must not be", [](Problem* p) { p->pieces = -1; }},
          {"pieces must be positive with a mod",
           [](Problem* p) { p->mod = kScoreMods[0]; }},
          {"0 without one", [](Problem* p) { p->pieces = 2; }},
          {"key_band must not be", [](Problem* p) { p->key_band = -1; }},
          {"table_heads must be 1 or heads",
           [](Problem* p) { p->table_heads = 2; }},
          {"far_from must not be", [](Problem* p) { p->far_from = -1; }},
          {"far_from must be 0 unless causal",
           [](Problem* p) {
             p->far_from = 1;
             p->causal = false;
           }},
          {"positions must be 0 without gates",
           [](Problem* p) { p->positions = 1; }},
          {"positions must not be", [](Problem* p) { p->positions = -1; }},
      };
  for (const auto& [message, change] : mistakes) {
    Problem problem = Valid();
    change(&problem);
    const absl::Status status = Select(problem, "").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

}  // namespace
}  // namespace ordo::kernels::attention
