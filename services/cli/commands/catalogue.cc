#include "services/cli/commands/catalogue.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/details.h"
#include "base/text/nearest.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/catalog.h"
#include "model/catalog/metric_names.h"
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

// What an evaluation with the defaults may score; its parameters, such as
// lengths, may add to them.
std::vector<std::string> ScoresOf(const catalog::Entry& task) {
  catalog::ParamMap params;
  // Of data that has no default, which no name of a score depends on.
  std::vector<base::FieldViolation> violations;
  catalog::ResolveParams(task, "", &params, &violations);
  return catalog::MetricNames(task, params);
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
    ListValue* scores = fields["scores"].mutable_list_value();
    for (const std::string& name : ScoresOf(entry)) {
      *scores->add_values() = StringValue(name);
    }
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
                << "; scores: " << absl::StrJoin(ScoresOf(entry), ", ") << "\n";
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

// What is listed under one name: `field` in JSON.
struct Listed {
  std::vector<catalog::Kind> kinds;
  std::string field;
};

using Entries = std::vector<const catalog::Entry*>;

// Those of a kind that are called `name`; all when that is empty.
Entries EntriesCalled(catalog::Kind kind, const std::string& name) {
  Entries called;
  for (const catalog::Entry* entry : catalog::EntriesOf(kind)) {
    if (name.empty() || entry->name == name) called.push_back(entry);
  }
  return called;
}

absl::Status NoEntry(const Listed& listed, const std::string& name) {
  std::vector<std::string> names;
  for (const catalog::Kind kind : listed.kinds) {
    for (const catalog::Entry* entry : catalog::EntriesOf(kind)) {
      names.push_back(entry->name);
    }
  }
  return absl::NotFoundError(absl::StrCat("'", name, "' is none of the ",
                                          listed.field,
                                          base::SuggestName(name, names)));
}

absl::Status PrintEntries(Context& context, const Listed& listed,
                          const std::string& name) {
  Struct all;
  ListValue* list = (*all.mutable_fields())[listed.field].mutable_list_value();
  for (const catalog::Kind kind : listed.kinds) {
    for (const catalog::Entry* entry : EntriesCalled(kind, name)) {
      *list->add_values()->mutable_struct_value() = ToStruct(*entry);
    }
  }
  if (list->values().empty()) return NoEntry(listed, name);
  if (PrintStructured(context, all)) return absl::OkStatus();
  bool begun = false;
  for (const catalog::Kind kind : listed.kinds) {
    const Entries entries = EntriesCalled(kind, name);
    if (entries.empty()) continue;
    if (begun) context.out << "\n";
    if (listed.kinds.size() > 1) {
      context.out << catalog::KindName(kind)
                  << (name.empty() ? "s\n\n" : "\n\n");
    }
    for (const catalog::Entry* entry : entries) {
      if (entry != entries.front()) context.out << "\n";
      PrintEntry(context, *entry);
    }
    begun = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ListEncodings(Context& context, const std::string& name) {
  return PrintEntries(context, {{catalog::Kind::kEncoding}, "encodings"}, name);
}

absl::Status ListTasks(Context& context, const std::string& name) {
  return PrintEntries(
      context,
      {{catalog::Kind::kTrainingTask, catalog::Kind::kEvaluationTask}, "tasks"},
      name);
}

}  // namespace ordo::services::cli
