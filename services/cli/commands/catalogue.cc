#include "services/cli/commands/catalogue.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/catalog.h"
#include "model/catalog/page.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

namespace catalog = ordo::model::catalog;
using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

Value StringValue(std::string_view text) {
  Value value;
  value.set_string_value(std::string(text));
  return value;
}

Value BoolValue(bool flag) {
  Value value;
  value.set_bool_value(flag);
  return value;
}

Value StructValue(const Struct& members) {
  Value value;
  *value.mutable_struct_value() = members;
  return value;
}

// What holds for an encoding beside its parameters.
Struct TraitsOf(const catalog::EncodingTraits& traits) {
  Struct result;
  auto& fields = *result.mutable_fields();
  fields["formula"] = StringValue(traits.formula);
  fields["learned"] = StringValue(traits.parameters);
  fields["initial"] = StringValue(traits.initial);
  fields["beyond"] = StringValue(traits.beyond);
  fields["decoding"] = StringValue(catalog::DecodingName(traits.decoding));
  fields["relative"] = BoolValue(traits.relative);
  fields["causal_only"] = BoolValue(traits.causal_only);
  ListValue* kernels = fields["kernels"].mutable_list_value();
  for (const std::string& name : traits.kernels) {
    *kernels->add_values() = StringValue(name);
  }
  return result;
}

Struct ToStruct(const catalog::Entry& entry) {
  Struct result;
  auto& fields = *result.mutable_fields();
  fields["kind"] = StringValue(catalog::KindName(entry.kind));
  fields["name"] = StringValue(entry.name);
  fields["text"] = StringValue(entry.text);
  fields["source"] = StringValue(entry.source);
  if (entry.kind == catalog::Kind::kEncoding) {
    fields["encoding"] = StructValue(TraitsOf(entry.encoding));
  }
  if (entry.kind == catalog::Kind::kEvaluationTask) {
    fields["item_scores"] =
        StringValue(catalog::ItemScoresText(entry.evaluation.item_scores));
    fields["notation"] = StringValue(entry.evaluation.notation);
  }
  ListValue* params = fields["params"].mutable_list_value();
  for (const catalog::Param& param : entry.params) {
    auto& item =
        *params->add_values()->mutable_struct_value()->mutable_fields();
    item["name"] = StringValue(param.name);
    item["type"] = StringValue(catalog::TypeName(param.type));
    item["default"] = catalog::DefaultValue(param);
    item["range"] = StringValue(catalog::RangeText(param));
    item["unit"] = StringValue(param.unit);
    item["text"] = StringValue(param.text);
  }
  ListValue* with = fields["with"].mutable_list_value();
  for (const std::string& name : entry.with) {
    *with->add_values() = StringValue(name);
  }
  return result;
}

void PrintEntry(Context& context, const catalog::Entry& entry) {
  context.out << Paint(context.terminal, Color::kBold, entry.name) << "  "
              << entry.text << "\n";
  if (!entry.source.empty()) {
    context.out << "  "
                << Paint(context.terminal, Color::kDim, "from " + entry.source)
                << "\n";
  }
  if (entry.kind == catalog::Kind::kEncoding) {
    const catalog::EncodingTraits& traits = entry.encoding;
    context.out << "  " << traits.formula << "\n";
    if (!traits.parameters.empty()) {
      context.out << "  learned: " << traits.parameters
                  << "; at first: " << traits.initial << "\n";
    }
    context.out << "  past the trained length: " << traits.beyond
                << "; decoding with a cache: "
                << catalog::DecodingName(traits.decoding) << "\n";
  }
  if (entry.kind == catalog::Kind::kEvaluationTask) {
    context.out << "  items score: "
                << catalog::ItemScoresText(entry.evaluation.item_scores)
                << "\n";
    if (!entry.evaluation.notation.empty()) {
      context.out << "  in questions and answers " << entry.evaluation.notation
                  << "\n";
    }
  }
  if (!entry.with.empty()) {
    context.out << "  together with: " << absl::StrJoin(entry.with, ", ")
                << "\n";
  }
  Table table({"  PARAMETER", "TYPE", "DEFAULT", "RANGE", "UNIT", "MEANING"});
  for (const catalog::Param& param : entry.params) {
    table.AddRow({"  " + param.name, std::string(catalog::TypeName(param.type)),
                  catalog::DefaultText(param), catalog::RangeText(param),
                  param.unit, param.text});
  }
  if (!table.empty()) context.out << table.ToString(context.terminal);
}

void PrintEntries(Context& context, const std::vector<catalog::Kind>& kinds,
                  const std::string& field) {
  Struct all;
  ListValue* list = (*all.mutable_fields())[field].mutable_list_value();
  for (const catalog::Kind kind : kinds) {
    for (const catalog::Entry* entry : catalog::EntriesOf(kind)) {
      *list->add_values()->mutable_struct_value() = ToStruct(*entry);
    }
  }
  if (PrintStructured(context, all)) return;
  bool first = true;
  for (const catalog::Kind kind : kinds) {
    if (kinds.size() > 1) {
      context.out << (first ? "" : "\n") << catalog::KindName(kind) << "s\n\n";
      first = true;
    }
    for (const catalog::Entry* entry : catalog::EntriesOf(kind)) {
      if (!first) context.out << "\n";
      PrintEntry(context, *entry);
      first = false;
    }
  }
}

}  // namespace

void ListEncodings(Context& context) {
  PrintEntries(context, {catalog::Kind::kEncoding}, "encodings");
}

void ListTasks(Context& context) {
  PrintEntries(context,
               {catalog::Kind::kTrainingTask, catalog::Kind::kEvaluationTask},
               "tasks");
}

}  // namespace ordo::services::cli
