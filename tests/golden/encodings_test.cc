// Encodings by themselves, against published code and the papers' equations.
// tools/golden made the files: published.py, published_content.py, formulas.py.
//
// A case has `encoding`, `heads`, `head_width`, `causal` (true), `positions`
// (from 0), `parameters` by name, `inputs` (q, k and v [1,H,T,D], hidden
// [1,T,C], tokens [1,T]; without q all are zeros) and what is `expected`:
// `embedded` [1,T,C] of embeddings of zeros, `scores` [1,H,T,T] before the
// mask, `weights` [1,H,*,T] of the last tokens or `attended` [1,H,T,D].
// `single` says that the code computed in fp32.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/scalar_tensor.h"
#include "ATen/ops/stack.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::tests::golden {
namespace {

namespace catalog = model::catalog;

using google::protobuf::Struct;
using google::protobuf::Value;
using model::encodings::testing::Attention;
using model::encodings::testing::Probe;
using ordo::training::v1::Component;

constexpr double kBound = 1e-10;
constexpr double kBoundOfSingle = 2e-6;

// Lists of lists of numbers, as doubles.
at::Tensor TensorOf(const Value& value) {
  if (!value.has_list_value()) {
    return at::scalar_tensor(value.number_value(), at::kDouble);
  }
  std::vector<at::Tensor> parts;
  for (const Value& part : value.list_value().values()) {
    parts.push_back(TensorOf(part));
  }
  return at::stack(parts);
}

Component ComponentOf(const Struct& golden) {
  const auto& fields = golden.fields();
  Component component;
  component.set_name(fields.at("name").string_value());
  if (fields.contains("params")) {
    *component.mutable_params() = fields.at("params").struct_value().fields();
  }
  if (fields.contains("with")) {
    for (const Value& part : fields.at("with").list_value().values()) {
      *component.add_with() = ComponentOf(part.struct_value());
    }
  }
  return component;
}

// One case of a file.
class Case {
 public:
  explicit Case(const Struct& golden) : fields_(golden.fields()) {}

  Component encoding() const {
    Component component = ComponentOf(Part("encoding"));
    std::vector<base::FieldViolation> violations;
    catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &component,
                              &violations);
    EXPECT_TRUE(violations.empty()) << component.ShortDebugString();
    return component;
  }

  // For messages.
  std::string Name() const {
    return absl::StrCat(fields_.at("made_with").string_value(), ": ",
                        ComponentOf(Part("encoding")).ShortDebugString());
  }

  model::encodings::ModelShape Shape() const {
    model::encodings::ModelShape shape;
    shape.layers = 1;
    shape.heads = Integer("heads");
    shape.width = shape.heads * Integer("head_width");
    shape.causal = causal();
    return shape;
  }

  bool causal() const {
    return !fields_.contains("causal") || fields_.at("causal").bool_value();
  }

  double Bound() const {
    return fields_.contains("single") ? kBoundOfSingle : kBound;
  }

  at::Tensor Positions() const {
    if (fields_.contains("positions")) {
      return TensorOf(fields_.at("positions")).to(at::kLong).unsqueeze(0);
    }
    return at::arange(Length(), at::kLong).unsqueeze(0);
  }

  Attention AttentionOf() const {
    const auto& inputs = Part("inputs").fields();
    Attention attention = model::encodings::testing::NoProduct(
        Positions(), Integer("heads"), Integer("head_width"));
    if (inputs.contains("q")) {
      attention.q_BHTD = TensorOf(inputs.at("q"));
      attention.k_BHTD = TensorOf(inputs.at("k"));
    }
    if (inputs.contains("v")) attention.v_BHTD = TensorOf(inputs.at("v"));
    if (inputs.contains("hidden")) {
      attention.hidden_BTC = TensorOf(inputs.at("hidden"));
    }
    attention.causal = causal();
    return attention;
  }

  const Struct& Part(const std::string& name) const {
    return fields_.at(name).struct_value();
  }

  // What the encoding makes of the case's inputs.
  at::Tensor Made(const Probe& probe, const std::string& what) const;

 private:
  int Integer(const std::string& name) const {
    return static_cast<int>(fields_.at(name).number_value());
  }

  // Of what is expected.
  int64_t Length() const {
    const auto& [what, value] = *Part("expected").fields().begin();
    const int64_t axis = what == "embedded" ? 1 : what == "attended" ? 2 : 3;
    return TensorOf(value).size(axis);
  }

  const google::protobuf::Map<std::string, Value>& fields_;
};

// True where a query sees a key.
at::Tensor Seen(int64_t length, bool causal) {
  const at::Tensor all = at::ones({length, length}, at::kBool);
  return causal ? all.tril() : all;
}

at::Tensor Case::Made(const Probe& probe, const std::string& what) const {
  if (what == "embedded") {
    model::encodings::Pass pass;
    pass.positions_BT = pass.positions_BS = Positions();
    const auto& inputs = Part("inputs").fields();
    pass.tokens_BS = inputs.contains("tokens")
                         ? TensorOf(inputs.at("tokens")).to(at::kLong)
                         : at::zeros_like(pass.positions_BS);
    const int64_t length = pass.positions_BT.size(1);
    return probe.encoding().Embed(
        at::zeros({pass.tokens_BS.size(0), length, Shape().width}, at::kDouble),
        pass);
  }
  const Attention attention = AttentionOf();
  if (what == "attended") return probe.Attended(attention);
  const at::Tensor scores = probe.Scores(attention);
  const at::Tensor seen = Seen(scores.size(-1), causal());
  if (what == "scores") return scores.masked_fill(~seen, 0.0);
  return scores.masked_fill(~seen, -std::numeric_limits<double>::infinity())
      .softmax(-1);
}

void SetParameters(const Struct& values, const Probe& probe) {
  size_t set = 0;
  for (const auto& [name, value] : values.fields()) {
    const at::Tensor parameter = probe.Parameter(name);
    parameter.copy_(TensorOf(value).view_as(parameter));
    ++set;
  }
  EXPECT_EQ(set, probe.parameters().all().size()) << "some are not given";
}

void ExpectEqual(const Case& golden) {
  const Probe probe(golden.encoding(), golden.Shape());
  SetParameters(golden.Part("parameters"), probe);
  for (const auto& [what, value] : golden.Part("expected").fields()) {
    at::Tensor expected = TensorOf(value);
    at::Tensor made = golden.Made(probe, what);
    if (what == "scores") {
      expected =
          expected.masked_fill(~Seen(expected.size(-1), golden.causal()), 0.0);
    }
    if (what == "weights") {
      made = made.slice(2, made.size(2) - expected.size(2));
    }
    const double difference = model::testing::MaxDifference(made, expected);
    EXPECT_LT(difference, golden.Bound()) << what;
    ::testing::Test::RecordProperty(golden.Name(), absl::StrCat(difference));
  }
}

class GoldenEncodingsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenEncodingsTest, EqualTheReferences) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      base::ReadFile(
          files, absl::StrCat("tests/golden/encodings/", GetParam(), ".json"),
          /*max_bytes=*/1 << 20));
  Struct golden;
  ORDO_ASSERT_OK(base::ReadMessage(text, base::TextForm::kJson, &golden));
  const at::NoGradGuard no_grad;
  const auto& cases = golden.fields().at("cases").list_value().values();
  EXPECT_GT(cases.size(), 20);
  for (const Value& value : cases) {
    const Case one(value.struct_value());
    SCOPED_TRACE(one.Name());
    ExpectEqual(one);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenEncodingsTest,
                         ::testing::Values("published", "formulas"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ordo::tests::golden
