#include "model/catalog/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/yaml/text_form.h"
#include "model/catalog/attention_classes.h"

namespace ordo::model::catalog {
namespace {

constexpr char kIntroduction[] =
    R"(# Positional encodings

Every encoding that a job may name, from the catalogue; `ordo list encodings`
prints the same. A job names one as

    encoding: {name: rope, params: {base: 500000}, with: [{name: alibi}]}

In formulas s_ij is the logit of query i and key j; d is the width of a head, H
the number of heads, G those of keys and values, C the model's width. This page
is written by `bazel run //tools/encodings_page`.

)";

// Signs that mean something in a table's cell.
std::string Cell(std::string_view text) {
  return absl::StrReplaceAll(std::string(text), {{"|", "\\|"}});
}

std::string ParamTable(const Entry& entry) {
  if (entry.params.empty()) return "";
  std::string table =
      "\n| parameter | type | default | range | unit | meaning |\n"
      "|---|---|---|---|---|---|\n";
  for (const Param& param : entry.params) {
    absl::StrAppend(&table, "| `", param.name, "` | ",
                    std::string(TypeName(param.type)), " | ",
                    Cell(DefaultText(param)), " | ", Cell(RangeText(param)),
                    " | ", param.unit, " | ", Cell(param.text), " |\n");
  }
  return table;
}

std::string Section(const Entry& entry) {
  const EncodingTraits& traits = entry.encoding;
  std::string text = absl::StrCat("## ", entry.name, "\n\n", entry.text,
                                  "\n\n    ", traits.formula, "\n\n");
  const auto line = [&](const std::string& name, const std::string& value) {
    absl::StrAppend(&text, "- ", name, ": ", value, "\n");
  };
  line("learned", traits.parameters.empty() ? "nothing" : traits.parameters);
  if (!traits.initial.empty()) line("at first", traits.initial);
  line("past the trained length", traits.beyond);
  line("decoding with a cache", std::string(DecodingName(traits.decoding)));
  line("a shift of all positions", traits.is_relative != nullptr
                                       ? "depends on the parameters"
                                   : traits.relative ? "changes nothing"
                                                     : "changes logits");
  if (traits.causal_only) line("mask", "causal only");
  if (traits.ordered_positions) {
    line("position ids", "never go back along a row, under the causal mask");
  }
  line("kernels", absl::StrJoin(traits.kernels, ", "));
  if (!traits.no_cuda_kernel.empty()) {
    line("no kernel for a GPU", traits.no_cuda_kernel);
  }
  const AttentionClass& about = AttentionClassOf(entry.name);
  std::vector<std::string> plain;
  for (const PlainCase& one : about.plain) plain.push_back("with " + one.text);
  if (!plain.empty()) line("no kernel", absl::StrJoin(plain, "; or "));
  if (!entry.with.empty()) {
    line(traits.sums_with ? "may stand beside" : "made of one of",
         absl::StrJoin(entry.with, ", "));
  }
  line("source", entry.source);
  return absl::StrCat(text, ParamTable(entry), "\n");
}

}  // namespace

std::string_view DecodingName(Decoding decoding) {
  switch (decoding) {
    case Decoding::kCached:
      return "every row of a full pass";
    case Decoding::kLastRow:
      return "every row of a full pass up to the trained length, past it the "
             "last row in a model of one layer";
    case Decoding::kNone:
      return "refused";
  }
  return "";
}

std::string DefaultText(const Param& param) {
  std::string text =
      base::WriteMessage(DefaultValue(param), base::TextForm::kJson);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string EncodingsPage() {
  std::string page = kIntroduction;
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    absl::StrAppend(&page, Section(*entry));
  }
  page.pop_back();
  return page;
}

}  // namespace ordo::model::catalog
