#include "coordinator/scenario/notify_reader.h"

#include <algorithm>
#include <array>
#include <string>

#include "coordinator/scenario/url_form.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::string_view kUrlExample = "{env: PLIMSOLL_WEBHOOK} or {file: PATH}";

void ReadUrl(FieldReader& fields, std::string_view folder, NotifySpec& spec) {
  if (!fields.Require("url", kUrlExample)) return;
  if (fields.Find("url")->kind == ConfigNode::Kind::kScalar) {
    fields.Problem("url", fmt::format("stands in the scenario, which is kept and shown, and who "
                                      "knows it can write there; write {}",
                                      kUrlExample));
    return;
  }
  auto url = fields.Map("url");
  if (!url) return;
  const bool env = url->Find("env") != nullptr;
  const bool file = url->Find("file") != nullptr;
  if (env == file) {
    fields.Problem(
        "url", fmt::format("{}, write {}", env ? "names a variable and a file" : "names nothing",
                           kUrlExample));
  }
  if (const auto variable = url->Text("env")) {
    spec.url_env = *variable;
    if (!IsVariableName(*variable)) {
      url->Problem("env", "is not the name of a variable; write the name, never the URL itself");
    }
  }
  if (const auto path = url->Text("file")) spec.url_file = ResolvedPath(folder, *path);
  url->Finish();
}

void ReadEvents(FieldReader& fields, std::vector<NotifyEvent>& on) {
  const auto names = fields.Texts("on");
  if (!names) return;
  on.clear();
  for (const std::string& name : *names) {
    const auto* known = std::find(kNotifyEventNames.begin(), kNotifyEventNames.end(), name);
    if (known == kNotifyEventNames.end()) {
      fields.Problem("on", fmt::format("lists '{}', each must be one of {}", name,
                                       fmt::join(kNotifyEventNames, ", ")));
      continue;
    }
    const auto event = static_cast<NotifyEvent>(known - kNotifyEventNames.begin());
    if (std::find(on.begin(), on.end(), event) == on.end()) on.push_back(event);
  }
  if (names->empty()) fields.Problem("on", "is empty, list what to say or take it out");
}

NotifySpec ReadOne(FieldReader fields, std::string_view folder) {
  NotifySpec spec;
  ReadUrl(fields, folder, spec);
  constexpr std::array<std::string_view, 2> kForms = {"slack", "json"};
  if (const auto form = fields.Choice("form", kForms)) {
    spec.form = *form == 0 ? NotifyForm::kSlack : NotifyForm::kJson;
  }
  ReadEvents(fields, spec.on);
  fields.Finish();
  return spec;
}

}  // namespace

void ReadNotify(FieldReader& top, std::string_view folder, Problems& problems,
                std::vector<NotifySpec>& notify) {
  const ConfigNode* node = top.Find("notify");
  if (node == nullptr) return;
  if (node->kind != ConfigNode::Kind::kList) {
    notify.push_back(ReadOne(FieldReader(*node, "notify", problems), folder));
    return;
  }
  if (node->items.empty() || node->items.size() > kNotifyMax) {
    top.Problem("notify",
                fmt::format("lists {} webhooks, it takes 1 to {}", node->items.size(), kNotifyMax));
    return;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    notify.push_back(
        ReadOne(FieldReader(node->items[i], fmt::format("notify[{}]", i), problems), folder));
  }
}

}  // namespace plimsoll
