#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

// Encodings that turn q and k.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

void CheckTurningChannels(std::string_view field, const Component& component,
                          const ModelShape& shape,
                          std::vector<base::FieldViolation>* violations) {
  const int channels = TurningChannels(component.params(), shape.head_width());
  if (channels % 2 == 0) return;
  violations->push_back(
      {absl::StrCat(std::string(field), ".params.partial"),
       absl::StrCat("gives ", channels, " of ", shape.head_width(),
                    " channels to turn; the number must be even")});
}

Entry Rope() {
  Entry entry = EncodingEntry(
      "rope",
      "Rotary encoding: pairs of channels of q and k turn by angles that grow "
      "with the position.",
      "Su et al. 2021, arXiv:2104.09864");
  entry.params = {
      Number("base", 10000.0, {1.0, 1e9},
             "Base of the frequencies: pair f of r channels turns by position "
             "* base^(-2f/r)."),
      Number("partial", 1.0, {0.0, 1.0},
             "Share of each head's channels that turn; the rest stay as they "
             "are."),
      Choice("layout", {"half_split", "interleaved"},
             "Which channels make a pair: (f, f + r/2) as in Hugging Face's "
             "Llama, or (2f, 2f + 1) as in the original."),
  };
  entry.encoding.formula = "s_ij = (R(i) q_i) . (R(j) k_j) / sqrt(d)";
  entry.encoding.beyond = "defined; angles that training has not seen";
  entry.encoding.check_shape = CheckTurningChannels;
  return entry;
}

}  // namespace

int TurningChannels(const ParamMap& params, int head_width) {
  return static_cast<int>(Params(params).Number("partial") * head_width);
}

std::vector<Entry> RotaryEntries() { return {Rope()}; }

}  // namespace ordo::model::catalog
