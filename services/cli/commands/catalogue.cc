#include "services/cli/commands/catalogue.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/catalog.h"
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

// "0.5", "true", "[1, 2]": a parameter's default as a spec writes it.
std::string DefaultText(const catalog::Param& param) {
  std::string text =
      base::WriteMessage(catalog::DefaultValue(param), base::TextForm::kJson);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Struct ToStruct(const catalog::Entry& entry) {
  Struct result;
  auto& fields = *result.mutable_fields();
  fields["kind"] = StringValue(catalog::KindName(entry.kind));
  fields["name"] = StringValue(entry.name);
  fields["text"] = StringValue(entry.text);
  fields["source"] = StringValue(entry.source);
  ListValue* params = fields["params"].mutable_list_value();
  for (const catalog::Param& param : entry.params) {
    auto& item =
        *params->add_values()->mutable_struct_value()->mutable_fields();
    item["name"] = StringValue(param.name);
    item["type"] = StringValue(catalog::TypeName(param.type));
    item["default"] = catalog::DefaultValue(param);
    item["range"] = StringValue(catalog::RangeText(param));
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
  if (!entry.with.empty()) {
    context.out << "  together with: " << absl::StrJoin(entry.with, ", ")
                << "\n";
  }
  Table table({"  PARAMETER", "TYPE", "DEFAULT", "RANGE", "MEANING"});
  for (const catalog::Param& param : entry.params) {
    table.AddRow({"  " + param.name, std::string(catalog::TypeName(param.type)),
                  DefaultText(param), catalog::RangeText(param), param.text});
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
