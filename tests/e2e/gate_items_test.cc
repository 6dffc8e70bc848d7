// A gate on a user's own questions, from the command line through the service
// to the real trainer, of two models whose answers are known by hand: so it is
// known to the item how much worse the candidate is.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Of the tokenizer "bytes": its marks come first.
constexpr int kVocabulary = 260;
constexpr int kFirstByte = 4;
constexpr int kWidth = 16;

constexpr char kConfig[] = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "num_hidden_layers": 1,
  "hidden_size": 16,
  "num_attention_heads": 2,
  "num_key_value_heads": 2,
  "intermediate_size": 16,
  "vocab_size": 260,
  "rms_norm_eps": 1e-5,
  "max_position_embeddings": 64,
  "rope_theta": 10000.0
}
)";

// A tensor in which the numbers from `begin` to `end` are one, others zero.
struct Tensor {
  std::string name;
  std::vector<int> shape;
  int begin = 0;
  int end = 0;
};

std::string Safetensors(const std::vector<Tensor>& tensors) {
  std::vector<std::string> entries;
  std::string data;
  for (const Tensor& tensor : tensors) {
    const size_t start = data.size();
    int count = 1;
    for (const int size : tensor.shape) count *= size;
    for (int i = 0; i < count; ++i) {
      const float value = i >= tensor.begin && i < tensor.end ? 1.0F : 0.0F;
      char bytes[sizeof(value)];
      std::memcpy(bytes, &value, sizeof(value));
      data.append(bytes, sizeof(value));
    }
    entries.push_back(
        absl::StrCat("\"", tensor.name, R"(":{"dtype":"F32","shape":[)",
                     absl::StrJoin(tensor.shape, ","), R"(],"data_offsets":[)",
                     start, ",", data.size(), "]}"));
  }
  const std::string header =
      absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  const uint64_t length = header.size();
  std::string prefix(sizeof(length), '\0');
  std::memcpy(prefix.data(), &length, sizeof(length));
  return prefix + header + data;
}

// Finds `letter` likely wherever it stands, e^16 times as likely as any other:
// the layer adds nothing to embeddings that are all ones.
std::string ModelThatSays(char letter) {
  const std::string layer = "model.layers.0.";
  const std::vector<int> square = {kWidth, kWidth};
  const int row = (kFirstByte + letter) * kWidth;
  return Safetensors({
      {"lm_head.weight", {kVocabulary, kWidth}, row, row + kWidth},
      {"model.embed_tokens.weight",
       {kVocabulary, kWidth},
       0,
       kVocabulary * kWidth},
      {layer + "input_layernorm.weight", {kWidth}, 0, kWidth},
      {layer + "mlp.down_proj.weight", square},
      {layer + "mlp.gate_proj.weight", square},
      {layer + "mlp.up_proj.weight", square},
      {layer + "post_attention_layernorm.weight", {kWidth}, 0, kWidth},
      {layer + "self_attn.k_proj.weight", square},
      {layer + "self_attn.o_proj.weight", square},
      {layer + "self_attn.q_proj.weight", square},
      {layer + "self_attn.v_proj.weight", square},
      {"model.norm.weight", {kWidth}, 0, kWidth},
  });
}

// Questions, of which so many are answered right by one of the two alone.
struct Set {
  int num_items = 0;
  int num_better = 0;
  int num_worse = 0;
};

class GateItemsTest : public Scenario {
 protected:
  // The candidate says a, the baseline b.
  void SetUp() override {
    harness::DeploymentOptions options = Options("");
    options.worker.set_trainer(ProgramPath("ordo-trainer"));
    Start(options);
    for (const char letter : {'a', 'b'}) {
      const std::string name = std::string("says-") + letter;
      const std::string folder = folder_.Path(name);
      ORDO_ASSERT_OK(files_.MakeFolders(folder));
      ORDO_ASSERT_OK(
          base::AtomicWrite(files_, folder + "/config.json", kConfig));
      ORDO_ASSERT_OK(base::AtomicWrite(files_, folder + "/model.safetensors",
                                       ModelThatSays(letter)));
      const Said said = RunOrdo({"push", "checkpoint", folder, "--name", name});
      ASSERT_EQ(said.exit_code, 0) << said.err;
    }
  }

  // What is said of a gate called `name` on such a set.
  Said Gate(const std::string& name, const std::string& margin,
            const Set& set) {
    std::string lines =
        R"({"prompt": "{text}:", "choices": "{choices}", "answer": "{right}", )"
        R"("metric": "acc"})"
        "\n";
    for (int i = 0; i < set.num_items; ++i) {
      const bool better = i < set.num_better;
      const bool worse = !better && i < set.num_better + set.num_worse;
      // Both find "ab" likelier than "zz".
      absl::StrAppend(&lines, R"({"id": "q)", i, R"(", "text": "which", )",
                      R"("choices": )",
                      better || worse ? R"(["aa", "bb"])" : R"(["ab", "zz"])",
                      R"(, "right": )", worse ? 1 : 0, "}\n");
    }
    const std::string data = deployment_->storage_root() + "/data";
    ORDO_EXPECT_OK(files_.MakeFolders(data));
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, data + "/" + name + ".jsonl", lines));
    return RunOrdo({"gate",
                    "--candidate",
                    "jobs/says-a",
                    "--baseline",
                    "jobs/says-b",
                    "--margin",
                    margin,
                    "--task",
                    "questions",
                    "--param",
                    "path=" + name + ".jsonl",
                    "--param",
                    "tokenizer=bytes",
                    "--param",
                    "max_tokens=64",
                    "--set",
                    "name=" + name,
                    "--set",
                    "resources.threads=1",
                    "--out",
                    folder_.Path("out-" + name)});
  }

  // What the gate found, for programs.
  std::string Result(const std::string& name) {
    return base::ReadFile(files_, folder_.Path("out-" + name + "/result.json"),
                          8 << 20)
        .value_or("");
  }
};

TEST_F(GateItemsTest, TwoPointsOfTwoThousandItemsAreCaught) {
  const Said said = Gate("worse", "0.01", {2000, 20, 60});
  EXPECT_EQ(said.exit_code, 6) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("Verdict: fail."));
  EXPECT_THAT(Result("worse"), AllOf(HasSubstr("\"num_items\":2000"),
                                     HasSubstr("\"num_better\":20"),
                                     HasSubstr("\"num_worse\":60")));
}

TEST_F(GateItemsTest, AnEqualOneGetsThroughAtAMarginThatHasPower) {
  const Said said = Gate("equal", "0.02", {2000, 40, 40});
  EXPECT_EQ(said.exit_code, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("Verdict: pass."));
  EXPECT_THAT(Result("equal"),
              AllOf(HasSubstr("\"num_better\":40"),
                    HasSubstr("\"num_worse\":40"), HasSubstr("\"power\":0.9")));
}

TEST_F(GateItemsTest, FiftyItemsAreInconclusive) {
  const Said worse = Gate("few-worse", "0.02", {50, 0, 1});
  EXPECT_EQ(worse.exit_code, 7) << worse.out << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("Verdict: inconclusive."));
  const Said equal = Gate("few-equal", "0.02", {50, 1, 1});
  EXPECT_EQ(equal.exit_code, 7) << equal.out << equal.err;
}

}  // namespace
}  // namespace ordo::tests::e2e
