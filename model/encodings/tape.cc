#include "model/encodings/tape.h"

#include <string>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/diag_embed.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/silu.h"
#include "base/random/random.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/rotary.h"
#include "model/encodings/tape_form.h"
#include "model/encodings/tape_mixing.h"
#include "model/encodings/tape_start.h"

// TAPE (Zhu et al. 2025): every token and head carries a state, which turns q
// and k (equation 6) and is changed from layer to layer by attention (equation
// 7) and by the MLP's output (equation 8). By default the state is complex
// numbers e, one for each frequency, which start as rope's rotations; changes
// act across heads and leave frequencies apart, and real and imaginary parts go
// through the same real weights, so a phase per frequency that heads and tokens
// share passes through unchanged. The other forms of the state and axes of its
// changes are in tape_form.h and tape_mixing.h.
//
// Legend: B batch, H heads, T tokens, C model width, W width of a head's state,
// N and M sizes of the axes along which attention's and the MLP's changes act,
// E inner width of the position MLP (the paper's B').

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

// Standard deviation of those of W1, W2 and X that do not start at 0 (the
// paper's appendix, as in its code).
constexpr double kInitialStd = 0.02;

struct TapeOptions {
  ModelShape shape;
  int64_t position_size = 0;
  // As the authors' code has it: attention changes each head by a gain of its
  // own, W1 starts at zero instead of W2, and the last layer has parameters.
  bool released = false;
  // Equation 8 reads attention's output, as the paper has it, not the MLP's.
  bool reads_attention = false;
  bool attention_update = true;
  bool mlp_update = true;
  // Most that positions are moved by in training.
  int64_t random_offset = 0;
  MixAxis attention_axis;
  MixAxis mlp_axis;
};

// The parameters of one layer; undefined where an update is off.
struct TapeLayer {
  // G of equation 7: [N,N].
  at::Tensor mix_NN;
  // W1, W2 and X of equation 8: [E,M], [M,E], [E,C].
  MixMlp mlp;
  at::Tensor gate_EC;
};

class Tape : public Encoding {
 public:
  Tape(const TapeOptions& options, std::unique_ptr<TapeForm> form,
       parameters::ParameterSet* parameters)
      : options_(options), form_(std::move(form)) {
    // The state that leaves the last layer is never read: no parameters there.
    const int count = options_.shape.layers - (options_.released ? 0 : 1);
    for (int layer = 0; layer < count; ++layer) {
      layers_.push_back(AddLayer(layer, parameters));
    }
  }

  // Once, before anything else.
  void StartFrom(std::unique_ptr<TapeStart> start) {
    start_ = std::move(start);
  }

  const TapeForm& form() const { return *form_; }

  int64_t CachedLength() const override { return start_->CachedLength(); }

  at::Tensor Positions(const PositionsInput& input) const override {
    if (options_.random_offset == 0 || !input.training.has_value()) {
      return input.counted;
    }
    base::RandomSequence random(
        input.training->seed,
        "positions/" + std::to_string(input.training->step));
    return input.counted +
           static_cast<int64_t>(
               random.Int(static_cast<uint64_t>(options_.random_offset) + 1));
  }

  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    return {{start_->State(pass, x_BTC.scalar_type())
                 .expand({x_BTC.size(0), options_.shape.heads, x_BTC.size(1),
                          form_->width()})},
            {}};
  }

  // Equation 6: the state takes rope's place.
  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    const at::Tensor& state = input.carried.tensors[0];
    const double factor = form_->query_factor(q_BHTD->size(-1));
    // Each head turns the keys that it shares by a state of its own.
    const int64_t sharing = state.size(1) / k_BGTD->size(1);
    if (sharing > 1) *k_BGTD = k_BGTD->repeat_interleave(sharing, 1);
    form_->TurnBoth(state, q_BHTD, k_BGTD);
    if (factor != 1.0) *q_BHTD = *q_BHTD * factor;
  }

  at::Tensor PositionState(int /*layer*/,
                           const Carried& carried) const override {
    return carried.tensors[0];
  }

  int NumMixedValues(int layer) const override {
    return options_.attention_update && !IsLast(layer) ? 1 : 0;
  }

  std::vector<at::Tensor> MixedValues(const LayerInput& input) const override {
    if (NumMixedValues(input.layer) == 0) return {};
    return {input.carried.tensors[0]};
  }

  // Equation 7: e <- e + G e~, e~ the attended states.
  void AfterAttention(int layer, const AttentionOutput& output,
                      Carried* carried) const override {
    at::Tensor& state = carried->tensors[0];
    if (NumMixedValues(layer) > 0) {
      // The released code multiplies each head by the sum of its row.
      const at::Tensor& given = layers_[layer].mix_NN;
      const at::Tensor mix =
          options_.released ? at::diag_embed(given.sum(1)) : given;
      const at::Tensor& attended = output.attended[0];
      state = ChangeByOne(options_.attention_axis, mix, attended, state);
    }
    if (options_.reads_attention) {
      UpdateByToken(layer, output.output_BTC, &state);
    }
  }

  void AfterMlp(int layer, const at::Tensor& mlp_output_BTC,
                Carried* carried) const override {
    if (!options_.reads_attention) {
      UpdateByToken(layer, mlp_output_BTC, &carried->tensors[0]);
    }
  }

 private:
  bool IsLast(int layer) const { return layer + 1 >= options_.shape.layers; }

  // Equation 8: e <- e + W2 diag(psi) W1 e with psi = SiLU(X m).
  void UpdateByToken(int layer, const at::Tensor& m_BTC,
                     at::Tensor* state_BHTW) const {
    if (!options_.mlp_update || IsLast(layer)) return;
    const TapeLayer& weights = layers_[layer];
    const at::Tensor psi_BTE = at::silu(at::linear(m_BTC, weights.gate_EC));
    *state_BHTW =
        ChangeByToken(options_.mlp_axis, weights.mlp, psi_BTE, *state_BHTW);
  }

  TapeLayer AddLayer(int layer, parameters::ParameterSet* parameters) const {
    const std::string prefix = LayerScope(layer) + "tape.";
    const int64_t inner = options_.position_size;
    const auto add = [&](const std::string& name, int64_t rows, int64_t columns,
                         double std) {
      return parameters->Add(prefix + name + ".weight", {rows, columns}, {std});
    };
    TapeLayer result;
    if (options_.attention_update) {
      const int64_t n = options_.attention_axis.mixed(options_.shape.heads);
      result.mix_NN = add("mix", n, n, 0.0);
    }
    if (options_.mlp_update) {
      const int64_t m = options_.mlp_axis.mixed(options_.shape.heads);
      const bool released = options_.released;
      result.mlp.in_EN = add("in_proj", inner, m, released ? 0.0 : kInitialStd);
      result.mlp.out_NE =
          add("out_proj", m, inner, released ? kInitialStd : 0.0);
      result.gate_EC =
          add("gate_proj", inner, options_.shape.width, kInitialStd);
    }
    return result;
  }

  const TapeOptions options_;
  const std::unique_ptr<TapeForm> form_;
  std::unique_ptr<TapeStart> start_;
  std::vector<TapeLayer> layers_;
};

// The channels that turn and their layout: those of the encoding that the
// state starts from, or all.
RotaryOptions ChannelsOf(const Component& component, const ModelShape& shape) {
  if (component.with_size() > 0) {
    return RotaryFromComponent(component.with(0), shape);
  }
  RotaryOptions options;
  options.channels = shape.head_width();
  return options;
}

TapeBlock BlockOf(const catalog::Params& params) {
  return {params.Integer("block_rows"), params.Integer("block_columns")};
}

enum class FormKind { kComplex, kHalves, kBlocks };

FormKind FormOf(const catalog::Params& params) {
  if (!params.Bool("equivariant") || params.String("embedding") == "vector") {
    return FormKind::kHalves;
  }
  const TapeBlock block = BlockOf(params);
  const bool complex = block.rows == 2 && block.columns == 2 &&
                       params.String("mix_axis") == "heads";
  return complex ? FormKind::kComplex : FormKind::kBlocks;
}

std::unique_ptr<Encoding> MakeOfForm(FormKind kind, const Component& component,
                                     const ModelShape& shape,
                                     parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const RotaryOptions channels = ChannelsOf(component, shape);
  const TapeBlock block = BlockOf(params);
  std::unique_ptr<TapeForm> form =
      kind == FormKind::kComplex  ? MakeComplexForm(channels)
      : kind == FormKind::kHalves ? MakeHalvesForm(channels)
                                  : MakeBlockForm(channels, block);
  TapeOptions options;
  options.shape = shape;
  options.position_size = params.Integer("position_size");
  options.released = params.String("reading") == "released";
  options.reads_attention = params.String("psi_input") == "attention_output";
  options.attention_update = params.Bool("attention_update");
  options.mlp_update = params.Bool("mlp_update");
  options.random_offset = params.Integer("random_offset");
  MixAxis heads;
  heads.inner = form->width();
  options.attention_axis = options.mlp_axis = heads;
  if (!params.Bool("equivariant")) {
    options.mlp_axis = {true, 2, channels.channels, 1};
  } else if (params.String("embedding") == "vector") {
    options.attention_axis =
        options.mlp_axis = {false, 2, channels.channels, 1};
  } else if (params.String("mix_axis") == "L") {
    options.attention_axis = options.mlp_axis = {
        false, channels.channels / block.rows, block.rows, block.columns};
  }
  auto tape = std::make_unique<Tape>(options, std::move(form), parameters);
  tape->StartFrom(MakeTapeStart(component, shape, tape->form(), parameters));
  return tape;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeTape(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeOfForm(FormOf(catalog::Params(component.params())), component,
                    shape, parameters);
}

std::unique_ptr<Encoding> MakeTapeInBlocks(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeOfForm(FormKind::kBlocks, component, shape, parameters);
}

}  // namespace ordo::model::encodings
