#include "model/catalog/kernel_choice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/nearest.h"
#include "model/catalog/attention_classes.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve_model.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

// What the encodings that act in one layer ask of its attention together.
struct Need {
  std::vector<std::string> encodings;
  // The first of the table only if there is no other.
  std::vector<const AttentionClass*> classes;
  // Position ids are drawn at random.
  bool is_drawn = false;
  // Zeros where no model is known.
  AttentionWidths widths;
  // Any of them does not without the causal mask.
  bool needs_causal = false;
  // Of a function of the distance; 0: none is known of.
  double pieces = 0;
  // Earlier segments pass on no gradient.
  bool has_segments = false;
  // Why its parameters are such that no kernel does it; empty: they are not.
  std::string plain;
  // Distances of vectors: AttentionClass::vectors.
  int vectors = 0;
};

// 0 where there is none.
double ParamOf(const v1::Component& encoding, const std::string& name) {
  const auto found = encoding.params().find(name);
  return found == encoding.params().end() ? 0 : found->second.number_value();
}

AttentionWidths WidthsOf(const AttentionClass& about,
                         const v1::Component& encoding,
                         const v1::Model* model) {
  if (model == nullptr) return {};
  if (about.widths != nullptr) return about.widths(encoding, ShapeOf(*model));
  return {model->head_width(), {model->head_width()}};
}

Need NeedOf(const v1::Component& encoding, const v1::Model* model,
            bool is_drawn) {
  const AttentionClass& about = AttentionClassOf(encoding.name());
  Need need;
  need.encodings = {encoding.name()};
  need.classes = {&about};
  need.is_drawn = is_drawn;
  need.widths = WidthsOf(about, encoding, model);
  need.needs_causal = about.needs_causal;
  if (!about.pieces_param.empty()) {
    need.pieces = 1 + ParamOf(encoding, about.pieces_param);
  }
  need.has_segments = ParamOf(encoding, about.segments_param) > 0;
  for (const PlainCase& one : about.plain) {
    if (!one.holds(encoding)) continue;
    need.plain =
        absl::StrCat("no kernel does ", encoding.name(), " with ", one.text);
    break;
  }
  if (about.vectors != nullptr) need.vectors = about.vectors(encoding);
  return need;
}

void Join(const Need& more, Need* need) {
  const AttentionClass* const plain = &AttentionClasses().front();
  need->encodings.insert(need->encodings.end(), more.encodings.begin(),
                         more.encodings.end());
  need->is_drawn = need->is_drawn || more.is_drawn;
  AttentionWidths& widths = need->widths;
  widths.query = std::max(widths.query, more.widths.query);
  if (more.widths.values.size() > widths.values.size()) {
    widths.values = more.widths.values;
  }
  need->needs_causal = need->needs_causal || more.needs_causal;
  need->pieces = std::max(need->pieces, more.pieces);
  need->has_segments = need->has_segments || more.has_segments;
  if (need->plain.empty()) need->plain = more.plain;
  need->vectors = std::max(need->vectors, more.vectors);
  for (const AttentionClass* about : more.classes) {
    if (about == plain) continue;
    if (need->classes.front() == plain) need->classes.clear();
    need->classes.push_back(about);
  }
}

// One for all layers, or those of a pattern of layers.
std::vector<Need> NeedsOf(const v1::Component& encoding,
                          const v1::Model* model) {
  const EncodingTraits& traits =
      Find(Kind::kEncoding, encoding.name())->encoding;
  if (traits.separates) {
    std::vector<Need> needs;
    for (const v1::Component& other : encoding.with()) {
      for (Need& need : NeedsOf(other, model)) {
        need.is_drawn = need.is_drawn || traits.draws_positions;
        needs.push_back(std::move(need));
      }
    }
    return needs;
  }
  Need need = NeedOf(encoding, model, traits.draws_positions);
  for (const v1::Component& other : encoding.with()) {
    for (const Need& more : NeedsOf(other, model)) Join(more, &need);
  }
  return {need};
}

template <typename List, typename Value>
bool Has(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Whether a kernel is among those of each of the encodings.
bool IsOfAll(const AttentionKernel& kernel, const Need& need) {
  return std::all_of(need.classes.begin(), need.classes.end(),
                     [&](const AttentionClass* about) {
                       return Has(about->kernels, kernel.family);
                     });
}

// Whether vectors of distances, or a far product, are beside another term of
// distances.
bool MixesProducts(const Need& need) {
  int num_terms = 0, num_products = 0;
  for (const AttentionClass* about : need.classes) {
    num_terms += about->distances != Distances::kNone ? 1 : 0;
    num_products += about->distances == Distances::kProducts ? 1 : 0;
  }
  return num_products > 0 && num_terms > 1;
}

// Why a kernel does not do what the encodings need; empty: it does.
std::string WhyNotEncoding(const AttentionKernel& kernel, const Need& need) {
  const bool is_gpu = kernel.device == "cuda";
  for (const AttentionClass* about : need.classes) {
    if (!Has(about->kernels, kernel.family)) {
      return absl::StrCat(
          "it does not do ", absl::StrJoin(need.encodings, " with "),
          is_gpu && !about->no_cuda.empty()
              ? absl::StrCat(": ", about->no_cuda)
              : absl::StrCat(" (", about->text, "), which ",
                             absl::StrJoin(KernelNames(*about), ", "), " do"));
    }
    if (need.is_drawn && about->distances > kernel.of_ids) {
      return "distances between position ids do not lie on a tile's diagonals";
    }
  }
  if (!kernel.mixes_products && MixesProducts(need)) {
    return absl::StrCat(
        "it does vectors of distances, or another product for far keys, beside "
        "no other term of distances, and ",
        absl::StrJoin(need.encodings, " with "), " has more of them");
  }
  return "";
}

// Why a kernel does not do what is not the encoding's; empty: it does.
std::string WhyNot(const AttentionKernel& kernel, const AttentionUse& use) {
  if (kernel.device != use.device) {
    return absl::StrCat("it is one for ", kernel.device,
                        ", and resources.device is ", use.device);
  }
  if (!Has(kernel.precisions, use.precision)) {
    return absl::StrCat("it computes in ",
                        absl::StrJoin(kernel.precisions, " and "),
                        ", and this is in ", use.precision);
  }
  if (use.model == nullptr) return "";
  const int width = use.model->head_width();
  if (width > kernel.max_head_width ||
      width % kernel.head_width_multiple != 0) {
    return absl::StrCat("its heads are at most ", kernel.max_head_width,
                        " wide, a multiple of ", kernel.head_width_multiple,
                        ", and model.head_width is ", width);
  }
  if (!use.model->causal() && use.model->sliding_window() > 0) {
    return "it hides no keys behind the query, as model.sliding_window does "
           "without model.causal";
  }
  return "";
}

// Why no kernel does what is needed, whichever it is; empty: one may.
std::string WhyNotAny(const AttentionUse& use, const Need& need) {
  if (!need.plain.empty()) return need.plain;
  if (need.has_segments && use.is_training) {
    return "in training, keys of earlier segments pass on no gradient";
  }
  if (need.needs_causal && use.model != nullptr && !use.model->causal()) {
    return "keys are near or far behind the query only, and model.causal is "
           "false";
  }
  return "";
}

// Why the sizes of what the encodings need are too large; empty: they are not.
std::string WhyNotSizes(const AttentionKernel& kernel, const AttentionUse& use,
                        const Need& need) {
  const std::string of = absl::StrJoin(need.encodings, " with ");
  if (need.pieces > kernel.max_pieces) {
    return absl::StrCat("its functions of the distance have at most ",
                        kernel.max_pieces, " pieces, and ", of, " has ",
                        need.pieces);
  }
  const bool few = kernel.max_vectors < kNoLimit && need.vectors > 0;
  const bool open = use.model != nullptr && !use.model->causal();
  if (few && (open || need.vectors > kernel.max_vectors)) {
    return absl::StrCat(
        "its vectors of distances are at queries alone, of at "
        "most ",
        kernel.max_vectors,
        " distances and under the causal mask, and those of ", of, " are not");
  }
  if (use.model == nullptr) return "";
  const int step = kernel.head_width_multiple, tile = kernel.value_tile;
  const std::string with =
      absl::StrCat(" with model.head_width ", use.model->head_width());
  const int64_t width = need.widths.query;
  if (width > kernel.max_head_width || width % step != 0) {
    return absl::StrCat("its q and k are at most ", kernel.max_head_width,
                        " wide, a multiple of ", step, ", and those of ", of,
                        " are ", width, with);
  }
  int64_t values = 0;
  for (const int64_t value : need.widths.values) {
    if (value % step != 0) {
      return absl::StrCat("its values are a multiple of ", step,
                          " wide, and one of ", of, " is ", value, with);
    }
    values += (value + tile - 1) / tile * tile;
  }
  if (values > kernel.max_values_width) {
    return absl::StrCat("its values are at most ", kernel.max_values_width,
                        " wide together, and those of ", of, " take ", values,
                        with);
  }
  return "";
}

// The same of a kernel that may do it.
std::string WhyNotNeed(const AttentionKernel& kernel, const AttentionUse& use,
                       const Need& need) {
  std::string why = WhyNotAny(use, need);
  if (why.empty()) why = WhyNotEncoding(kernel, need);
  return why.empty() ? WhyNotSizes(kernel, use, need) : why;
}

std::string WhyNot(const AttentionKernel& kernel, const AttentionUse& use,
                   const Need& need) {
  std::string why = WhyNot(kernel, use);
  return why.empty() ? WhyNotNeed(kernel, use, need) : why;
}

// Why no kernel does what is needed; empty: one does.
std::string WhyNone(const AttentionUse& use, const Need& need) {
  std::string first = WhyNotAny(use, need);
  if (!first.empty()) return first;
  for (const AttentionKernel& kernel : AttentionKernels()) {
    if (kernel.device != use.device) continue;
    const std::string why = WhyNot(kernel, use, need);
    if (why.empty()) return "";
    // Why the one that could do it does not says more.
    if (first.empty() || IsOfAll(kernel, need)) {
      first = absl::StrCat(kernel.name, ": ", why);
    }
  }
  return first;
}

// Of a recipe's steps, another precision in which a kernel does all that is
// needed; empty: none is.
std::string OtherPrecision(AttentionUse use) {
  if (!use.is_training) return "";
  for (const char* const precision : {"bf16", "fp32"}) {
    use.precision = precision;
    const std::vector<Need> needs = NeedsOf(*use.encoding, use.model);
    if (std::all_of(needs.begin(), needs.end(), [&](const Need& need) {
          return WhyNone(use, need).empty();
        })) {
      return precision;
    }
  }
  return "";
}

void AddOnce(const std::string& notice, std::vector<std::string>* notices) {
  if (!notice.empty() && !Has(*notices, notice)) notices->push_back(notice);
}

AttentionUse UseOf(const KernelContext& context, const v1::Evaluation& one) {
  // What evaluations compute in: fp32, or what kernels of a GPU compute.
  return {context.model,        context.encoding,
          context.device,       context.device == "cuda" ? "bf16" : "fp32",
          one.kernel(),
          /*is_training=*/false};
}

AttentionUse UseOf(const KernelContext& context, const v1::Training& training) {
  return {context.model,        context.encoding,  context.device,
          training.precision(), training.kernel(), /*is_training=*/true};
}

}  // namespace

void CheckKernel(std::string_view field, const AttentionUse& use,
                 Violations* violations) {
  if (use.kernel.empty() || use.kernel == kReferenceKernel) return;
  std::vector<std::string> names;
  for (const AttentionKernel& kernel : AttentionKernels()) {
    names.push_back(kernel.name);
    if (kernel.name != use.kernel) continue;
    std::string why = WhyNot(kernel, use);
    if (why.empty() && use.encoding != nullptr) {
      for (const Need& need : NeedsOf(*use.encoding, use.model)) {
        if (why.empty()) why = WhyNotNeed(kernel, use, need);
      }
    }
    if (why.empty()) return;
    violations->push_back(
        {std::string(field),
         absl::StrCat(use.kernel, " cannot be taken: ", why,
                      "; leave it out for the best that there is",
                      kernel.device == use.device
                          ? ""
                          : absl::StrCat(", or set resources.device to ",
                                         kernel.device))});
    return;
  }
  names.push_back(kReferenceKernel);
  const std::string nearest = base::Nearest(use.kernel, names);
  violations->push_back(
      {std::string(field),
       absl::StrCat("must be one of ", absl::StrJoin(names, ", "), ", is '",
                    use.kernel, "'",
                    nearest.empty()
                        ? ""
                        : absl::StrCat("; did you mean '", nearest, "'?"))});
}

std::string SlowdownNotice(std::string_view what, const AttentionUse& use) {
  if (use.model == nullptr || use.encoding == nullptr) return "";
  const bool is_asked = use.kernel == kReferenceKernel;
  for (const Need& need : NeedsOf(*use.encoding, use.model)) {
    const std::string why = WhyNone(use, need);
    if (!is_asked && why.empty()) continue;
    const std::string other = is_asked ? "" : OtherPrecision(use);
    double slowdown = 1;
    for (const AttentionClass* about : need.classes) {
      slowdown = std::max(slowdown, about->slowdown);
    }
    return absl::StrFormat(
        "%s under %s takes plain operations, in blocks of bounded memory%s%s; "
        "expect it to take about %.1f times as long as with a kernel (as "
        "measured "
        "of a step of the tiny model with 1024 tokens on two CPU cores)%s",
        std::string(what), absl::StrJoin(need.encodings, " with "),
        is_asked
            ? ", as asked for"
            : absl::StrCat(", as no kernel for ", use.device, " does it: "),
        is_asked ? "" : why, slowdown,
        other.empty() ? ""
                      : absl::StrCat("; with training.precision: ", other,
                                     " there is a kernel"));
  }
  return "";
}

void CheckTrainingKernel(const KernelContext& context,
                         const v1::Training& training, Violations* violations) {
  CheckKernel("training.kernel", UseOf(context, training), violations);
}

void CheckEvaluationKernels(
    const KernelContext& context,
    const google::protobuf::RepeatedPtrField<v1::Evaluation>& evaluations,
    Violations* violations) {
  for (int i = 0; i < evaluations.size(); ++i) {
    CheckKernel(absl::StrCat("evaluations[", i, "].kernel"),
                UseOf(context, evaluations[i]), violations);
  }
}

void AddTrainingNotice(const KernelContext& context,
                       const v1::Training& training,
                       std::vector<std::string>* notices) {
  AddOnce(SlowdownNotice("training", UseOf(context, training)), notices);
}

void AddEvaluationNotices(
    const KernelContext& context,
    const google::protobuf::RepeatedPtrField<v1::Evaluation>& evaluations,
    std::vector<std::string>* notices) {
  for (const v1::Evaluation& one : evaluations) {
    AddOnce(SlowdownNotice("evaluation", UseOf(context, one)), notices);
  }
}

}  // namespace ordo::model::catalog
