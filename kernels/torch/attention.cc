#include "kernels/torch/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <torch/csrc/autograd/custom_function.h>

#include "ATen/TensorOperators.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/linear.h"
#include "absl/strings/str_cat.h"
#include "c10/util/Exception.h"
#include "kernels/torch/launch.h"

namespace ordo::kernels::torch {
namespace {

using attention::Input;
using attention::kNumInputs;
using attention::kNumOutputs;
using attention::Output;
using attention::Problem;
using attention::Shape;
using attention::View;
using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

View ViewOf(const at::Tensor& x) {
  return {const_cast<void*>(ConstData<void>(x)), x.stride(0), x.stride(1),
          x.stride(2)};
}

// [batch, heads, tokens, width] with tokens before heads in memory, so that
// the projections around attention read and write whole tokens.
at::Tensor Empty(const Shape& shape, const at::TensorOptions& options) {
  return at::empty({shape.batch, shape.tokens, shape.heads, shape.width},
                   options)
      .transpose(1, 2);
}

// What of a call is not differentiated.
struct Setting {
  Problem problem;
  const attention::Kernel* kernel;
  // Those that the problem has, ascending.
  std::vector<Input> inputs;
  at::Tensor real_BS;
  at::Tensor positions_BS;
  at::Tensor first_BHT;
  at::Tensor knots;
};

// Held by the autograd graph.
struct SettingHolder : ::torch::CustomClassHolder {
  explicit SettingHolder(Setting s) : setting(std::move(s)) {}
  Setting setting;
};

// Tensors as the setting lists its inputs.
attention::Call CallOf(const Setting& setting, at::TensorList inputs) {
  attention::Call call;
  call.problem = setting.problem;
  attention::Facts& facts = call.facts;
  if (setting.real_BS.defined()) {
    facts.real_BS =
        static_cast<const uint8_t*>(ConstData<void>(setting.real_BS));
  }
  if (setting.positions_BS.defined()) {
    facts.positions_BS = ConstData<int32_t>(setting.positions_BS);
  }
  if (setting.first_BHT.defined()) {
    const at::Tensor& first = setting.first_BHT;
    facts.first_BHT = ConstData<int32_t>(first);
    facts.first_batch_stride = first.size(0) == 1 ? 0 : first.stride(0);
    facts.first_head_stride = first.size(1) == 1 ? 0 : first.stride(1);
  }
  if (setting.knots.defined()) {
    facts.knots = ConstData<float>(setting.knots);
  }
  for (size_t i = 0; i < setting.inputs.size(); ++i) {
    call.inputs[setting.inputs[i]] = ViewOf(inputs[i]);
  }
  return call;
}

// Whether rows begin at multiples of 16 bytes, as a GPU's bulk copies need.
bool AreRowsAligned(const at::Tensor& x) {
  const int64_t bytes = x.element_size();
  bool aligned = reinterpret_cast<uintptr_t>(ConstData<void>(x)) % 16 == 0;
  for (int64_t axis = 0; axis + 1 < x.dim(); ++axis) {
    aligned =
        aligned && (x.size(axis) == 1 || x.stride(axis) * bytes % 16 == 0);
  }
  return aligned;
}

// Of an operand or a gradient of an output: its rows as kernels read them.
at::Tensor AlignedRows(const Problem& problem, const at::Tensor& x) {
  const at::Tensor rows = InRows(x);
  if (problem.device == Device::kCpu || AreRowsAligned(rows)) return rows;
  return rows.clone(at::MemoryFormat::Contiguous);
}

class Attending : public Function<Attending> {
 public:
  // Gives the outputs that the problem has, in their order.
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const c10::intrusive_ptr<SettingHolder>& held) {
    const Setting& setting = held->setting;
    const Problem& p = setting.problem;
    attention::Call call = CallOf(setting, inputs);
    variable_list outputs;
    for (int o = 0; o < kNumOutputs; ++o) {
      const Shape shape = ShapeOf(p, static_cast<Output>(o));
      if (shape.count() == 0) continue;
      outputs.push_back(Empty(shape, inputs[0].options()));
      call.outputs[o] = ViewOf(outputs.back());
    }
    const at::Tensor lse = at::empty({p.batch, p.heads, p.queries},
                                     inputs[0].options().dtype(at::kFloat));
    call.lse_BHT = Data<float>(lse);
    ExpectRan(RunPass(*setting.kernel, Way::kForward, call, lse),
              setting.kernel->name);
    variable_list saved = inputs.vec();
    saved.insert(saved.end(), outputs.begin(), outputs.end());
    saved.push_back(lse);
    context->save_for_backward(saved);
    context->saved_data["setting"] = c10::IValue::make_capsule(held);
    return outputs;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const auto held = c10::static_intrusive_pointer_cast<SettingHolder>(
        context->saved_data["setting"].toCapsule());
    const Setting& setting = held->setting;
    const variable_list saved = context->get_saved_variables();
    attention::Call call = CallOf(setting, saved);
    const size_t num_inputs = setting.inputs.size();
    variable_list kept;
    size_t next = 0;
    for (int o = 0; o < kNumOutputs; ++o) {
      if (ShapeOf(setting.problem, static_cast<Output>(o)).count() == 0) {
        continue;
      }
      call.outputs[o] = ViewOf(saved[num_inputs + next]);
      const at::Tensor& gradient = gradients[next++];
      if (!gradient.defined()) continue;
      kept.push_back(AlignedRows(setting.problem, gradient));
      call.d_outputs[o] = ViewOf(kept.back());
    }
    call.lse_BHT = Data<float>(saved.back());
    variable_list results(num_inputs);
    for (size_t i = 0; i < num_inputs; ++i) {
      if (!context->needs_input_grad(i)) continue;
      const Input input = setting.inputs[i];
      results[i] = Empty(ShapeOf(setting.problem, input), saved[i].options());
      call.d_inputs[input] = ViewOf(results[i]);
    }
    ExpectRan(RunPass(*setting.kernel, Way::kBackward, call, saved.back()),
              setting.kernel->name);
    results.emplace_back();
    return results;
  }
};

// Of a problem's type, or fp32 for a table, in its shape, rows side by side.
at::Tensor Operand(const Problem& problem, Input input, const at::Tensor& x) {
  const Shape shape = ShapeOf(problem, input);
  const auto type = IsTable(input) ? at::kFloat : ScalarOf(problem.type);
  const at::Tensor all =
      x.to(type).expand({shape.batch, shape.heads, shape.tokens, shape.width});
  return IsTable(input) ? InRows(all) : AlignedRows(problem, all);
}

at::Tensor Numbers(const at::Tensor& x, c10::IntArrayRef shape,
                   c10::ScalarType type) {
  return x.defined() ? x.expand(shape).to(type).contiguous() : x;
}

// 0 for one that is not there.
int64_t Width(const Terms& terms, Input input) {
  const at::Tensor& x = terms.inputs[input];
  return x.defined() ? x.size(-1) : 0;
}

void AddTerms(const Terms& terms, Problem* p) {
  p->reach = terms.reach;
  p->rectified = terms.rectified;
  p->far_from = terms.far_from;
  p->gates = terms.gates;
  p->biased = Width(terms, attention::kBias) > 0;
  p->multiplied = Width(terms, attention::kMultiplier) > 0;
  p->mod = terms.mod;
  if (HasMod(*p)) {
    p->pieces = Width(terms, attention::kModParameter) / ParametersOf(p->mod);
  }
  p->query_band = Width(terms, attention::kQueryVector);
  p->key_band = Width(terms, attention::kKeyVector);
  p->by_channel = Width(terms, attention::kChannel) > 0;
  p->positions = Width(terms, attention::kPositionTerm);
  p->summed = terms.value_vectors_LM.defined();
  for (const Input vectors :
       {attention::kQueryVector, attention::kKeyVector, attention::kChannel}) {
    const at::Tensor& x = terms.inputs[vectors];
    if (x.defined() && x.size(1) > 1) p->table_heads = p->heads;
  }
}

bool HasTables(const Problem& p) {
  return p.biased || p.multiplied || HasMod(p) || p.query_band > 0 ||
         p.key_band > 0 || p.by_channel || p.summed || p.far_from > 0;
}

const at::Tensor& Or(const at::Tensor& first, const at::Tensor& second) {
  return first.defined() ? first : second;
}

// q and k as attention has them after all.
const at::Tensor& Query(const Attention& attention) {
  return Or(attention.terms.inputs[attention::kQ], attention.q_BHTD);
}
const at::Tensor& Key(const Attention& attention) {
  return Or(attention.terms.inputs[attention::kK], attention.k_BGSD);
}

// Those of the ids, unless the terms have numbers of their own.
const at::Tensor& PositionsOf(const Attention& attention) {
  return Or(attention.terms.positions_BS, attention.positions_BS);
}

bool Has(const Terms& terms, Input input) {
  return terms.inputs[input].defined();
}

bool HasTables(const Terms& terms) {
  return Has(terms, attention::kBias) || Has(terms, attention::kMultiplier) ||
         Has(terms, attention::kModDistance) ||
         Has(terms, attention::kQueryVector) ||
         Has(terms, attention::kKeyVector) || Has(terms, attention::kChannel) ||
         terms.value_vectors_LM.defined();
}

// What is a part of a_ij beside the product of one q and one k.
bool HasBands(const Terms& terms) {
  return Has(terms, attention::kQueryVector) ||
         Has(terms, attention::kKeyVector);
}

bool HasMultiplier(const Terms& terms) {
  return Has(terms, attention::kMultiplier) || terms.rectified;
}

bool HasGates(const Terms& terms) {
  return terms.gates != attention::Gates::kNone;
}

// Whether one changes a_ij after the other has read or changed it: bands are
// not multiplied, gates are of a_ij without bands and before no multiplier, and
// a scale of one's own is for one's own products.
bool Meet(const Terms& a, const Terms& b) {
  return (HasMultiplier(a) && (HasBands(b) || HasGates(b))) ||
         (HasGates(a) && HasBands(b)) ||
         (a.scale != 0.0 && (b.scale != 0.0 || HasBands(b) || HasGates(b) ||
                             HasMultiplier(b) || Has(b, attention::kQ)));
}

}  // namespace

bool Add(const Terms& terms, Terms* sum) {
  if (Meet(terms, *sum) || Meet(*sum, terms)) return false;
  if ((terms.far_from > 0 && sum->positions_BS.defined()) ||
      (sum->far_from > 0 && terms.positions_BS.defined())) {
    return false;
  }
  if (HasTables(terms)) {
    const bool differ = terms.reach != sum->reach ||
                        terms.positions_BS.defined() ||
                        sum->positions_BS.defined();
    if (HasTables(*sum) && differ) return false;
    sum->reach = terms.reach;
    sum->positions_BS = terms.positions_BS;
  }
  for (int i = 0; i < kNumInputs; ++i) {
    if (!terms.inputs[i].defined()) continue;
    at::Tensor& to = sum->inputs[i];
    if (to.defined() && i != attention::kBias) return false;
    to = to.defined() ? to + terms.inputs[i] : terms.inputs[i];
  }
  const bool both =
      (HasGates(terms) && HasGates(*sum)) ||
      (terms.far_from > 0 && sum->far_from > 0) ||
      (terms.value_vectors_LM.defined() && sum->value_vectors_LM.defined());
  if (both) return false;
  if (HasGates(terms)) sum->gates = terms.gates;
  if (terms.far_from > 0) sum->far_from = terms.far_from;
  if (terms.scale != 0.0) sum->scale = terms.scale;
  if (terms.mod != attention::ScoreMod::kNone) sum->mod = terms.mod;
  if (terms.knots.defined()) sum->knots = terms.knots;
  if (terms.value_vectors_LM.defined()) {
    sum->value_vectors_LM = terms.value_vectors_LM;
  }
  sum->rectified = sum->rectified || terms.rectified;
  return true;
}

bool IsForKernels(const at::Tensor& x) {
  const auto& all = attention::Kernels();
  const bool any =
      std::any_of(all.begin(), all.end(),
                  [device = DeviceOf(x)](const attention::Kernel& kernel) {
                    return kernel.device == device;
                  });
  return any && IsOfKernelType(x);
}

absl::StatusOr<Problem> ProblemOf(const Attention& attention) {
  const at::Tensor& q = Query(attention);
  const at::Tensor& k = Key(attention);
  const at::Tensor& value = attention.values[0];
  if (!IsForKernels(value)) {
    return absl::UnimplementedError(absl::StrCat(
        "there is no attention kernel for ", c10::toString(value.scalar_type()),
        " on ", value.device().str()));
  }
  Problem p;
  p.device = *DeviceOf(value);
  p.type = TypeOf(value);
  p.batch = q.size(0);
  p.heads = q.size(1);
  p.key_heads = k.size(1);
  p.queries = q.size(2);
  p.keys = k.size(2);
  p.width = q.size(3);
  p.num_values = static_cast<int>(attention.values.size());
  if (p.num_values > attention::kMaxValues) {
    return absl::UnimplementedError(absl::StrCat(
        "attention kernels mix at most ", attention::kMaxValues, " tensors"));
  }
  for (int v = 0; v < p.num_values; ++v) {
    p.values[v] = {attention.values[v].size(3), attention.values[v].size(1)};
  }
  const double scale = attention.terms.scale;
  p.scale = static_cast<float>(
      scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(p.width)));
  p.causal = attention.causal;
  p.padded = attention.real_BS.defined();
  p.bounded = attention.first_BHT.defined();
  AddTerms(attention.terms, &p);
  p.positioned = HasTables(p) && PositionsOf(attention).defined();
  return p;
}

std::vector<at::Tensor> Attend(const Attention& attention, const Problem& p,
                               const attention::Kernel& kernel) {
  const Terms& terms = attention.terms;
  variable_list tensors;
  std::vector<Input> inputs;
  for (int i = 0; i < kNumInputs; ++i) {
    const auto input = static_cast<Input>(i);
    if (ShapeOf(p, input).count() == 0) continue;
    const int v = i - attention::kValue;
    const bool is_value = v >= 0 && v < p.num_values;
    inputs.push_back(input);
    tensors.push_back(Operand(p, input,
                              input == attention::kQ   ? Query(attention)
                              : input == attention::kK ? Key(attention)
                              : is_value               ? attention.values[v]
                                                       : terms.inputs[input]));
  }
  Setting setting{p,
                  &kernel,
                  std::move(inputs),
                  Numbers(attention.real_BS, {p.batch, p.keys}, at::kBool),
                  p.positioned ? Numbers(PositionsOf(attention),
                                         {p.batch, p.keys}, at::kInt)
                               : at::Tensor(),
                  attention.first_BHT.defined()
                      ? attention.first_BHT.to(at::kInt).contiguous()
                      : at::Tensor(),
                  Numbers(terms.knots, {p.pieces - 1}, at::kFloat)};
  variable_list outputs =
      Attending::apply(at::TensorList(tensors),
                       c10::make_intrusive<SettingHolder>(std::move(setting)));
  if (terms.value_vectors_LM.defined()) {
    outputs[0] =
        outputs[0] +
        at::linear(outputs.back(),
                   terms.value_vectors_LM.to(outputs[0].scalar_type()).t());
    outputs.pop_back();
  }
  return outputs;
}

}  // namespace ordo::kernels::torch
