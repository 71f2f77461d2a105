#include "levers/fixes.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"
#include "levers/catalogue_files.h"
#include "levers/placeholders.h"
#include "levers/text_member.h"

namespace jarvis::levers {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// A key of a file, and the member that its text goes to.
struct TextKey {
  std::string_view name;
  std::string* to;
  bool needed = false;
};

Status TakeText(const At& at, std::string_view key, const element& value,
                std::initializer_list<TextKey> keys) {
  for (const TextKey& one : keys) {
    if (one.name != key) continue;
    JV_ASSIGN(*one.to, TextIn(at, key, value));
    return {};
  }
  std::vector<std::string_view> names;
  for (const TextKey& one : keys)
    names.push_back(one.name);
  return at.Bad(key, fmt::format("one of {}", fmt::join(names, ", ")));
}

Status NeedTexts(const At& at, std::initializer_list<TextKey> keys) {
  for (const TextKey& one : keys) {
    if (one.needed && one.to->empty()) return at.Bad(one.name, "a text");
  }
  return {};
}

Status TakeNames(const At& at, std::string_view key, const element& value,
                 std::vector<std::string>* to) {
  array items;
  if (value.get(items) != simdjson::SUCCESS) return at.Bad(key, "a list of texts");
  for (const element item : items) {
    std::string_view text;
    if (item.get(text) != simdjson::SUCCESS || text.empty()) return at.Bad(key, "a list of texts");
    to->emplace_back(text);
  }
  return {};
}

// [0, 0.3, 0.6]: what of the time goes, at least, expected, at most.
Status TakeParts(const At& at, std::string_view key, const element& value,
                 std::array<double, 3>* out) {
  constexpr const char* kExpected = "three numbers from 0 to 1, none below the one before";
  array items;
  if (value.get(items) != simdjson::SUCCESS || items.size() != 3) return at.Bad(key, kExpected);
  double last = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double& to = (*out)[i];
    if (items.at(i).get(to) != simdjson::SUCCESS || !(to >= last) || to > 1)
      return at.Bad(key, kExpected);
    last = to;
  }
  return {};
}

// The member "elsewhere": texts by framework, of which `keys` are allowed.
Status TakeElsewhere(const At& at, const element& value, bool action, std::vector<Elsewhere>* out) {
  object frameworks;
  if (value.get(frameworks) != simdjson::SUCCESS) return at.Bad("elsewhere", "an object");
  for (const auto [name, member] : frameworks) {
    object texts;
    if (member.get(texts) != simdjson::SUCCESS) return at.Bad(name, "an object of texts");
    Elsewhere& one = out->emplace_back();
    one.framework = name;
    for (const auto [key, text] : texts) {
      JV_TRY(action ? TakeText(at, key, text, {{"what", &one.what}, {"why", &one.why}})
                    : TakeText(at, key, text, {{"path_a", &one.path_a}, {"path_b", &one.path_b}}));
    }
  }
  return {};
}

// {"90": {"2": 64, "8": 0.5}}: MiB by architecture and ranks.
Status TakeMessages(const At& at, const element& value, Needs* out) {
  constexpr const char* kExpected = "MiB by number of ranks, by architecture";
  object architectures;
  if (value.get(architectures) != simdjson::SUCCESS) return at.Bad("message_mib", kExpected);
  for (const auto [name, member] : architectures) {
    const auto architecture = ParseInt(name);
    object sizes;
    if (!architecture || member.get(sizes) != simdjson::SUCCESS)
      return at.Bad("message_mib", kExpected);
    for (const auto [key, size] : sizes) {
      const auto ranks = ParseInt(key);
      double mib = 0;
      if (!ranks || size.get(mib) != simdjson::SUCCESS || !(mib > 0))
        return at.Bad("message_mib", kExpected);
      out->message_mib[static_cast<int>(*architecture)][static_cast<int>(*ranks)] = mib;
    }
  }
  return {};
}

// The member "needs" of an action.
Status TakeNeeds(const At& at, const element& value, Needs* out) {
  object fields;
  if (value.get(fields) != simdjson::SUCCESS) return at.Bad("needs", "an object");
  for (const auto [key, member] : fields) {
    if (key == "cuda") {
      if (member.get(out->cuda) != simdjson::SUCCESS) return at.Bad(key, "true or false");
    } else if (key == "tokens_max") {
      if (member.get(out->tokens_max) != simdjson::SUCCESS || out->tokens_max <= 0)
        return at.Bad(key, "a whole number above 0");
    } else if (key == "model_files") {
      JV_TRY(TakeNames(at, key, member, &out->model_files));
    } else if (key == "message_mib") {
      JV_TRY(TakeMessages(at, member, out));
    } else if (key == "architectures") {
      array items;
      if (member.get(items) != simdjson::SUCCESS) return at.Bad(key, "a list of numbers");
      for (const element item : items) {
        std::int64_t one = 0;
        if (item.get(one) != simdjson::SUCCESS) return at.Bad(key, "a list of numbers");
        out->architectures.push_back(static_cast<int>(one));
      }
    } else {
      return at.Bad(key, "no such key");
    }
  }
  return {};
}

// The member "line" of a fix.
Status TakeLine(const At& at, const element& value, LineRule* out) {
  object fields;
  if (value.get(fields) != simdjson::SUCCESS) return at.Bad("line", "an object");
  const std::pair<std::string_view, std::vector<std::string>*> lists[] = {
      {"kinds", &out->kinds}, {"libraries", &out->libraries},   {"classes", &out->classes},
      {"names", &out->names}, {"precisions", &out->precisions}, {"kernels", &out->kernels},
      {"when", &out->when}};
  for (const auto [key, member] : fields) {
    const auto* list = std::find_if(std::begin(lists), std::end(lists),
                                    [&](const auto& one) { return one.first == key; });
    if (list != std::end(lists)) {
      JV_TRY(TakeNames(at, key, member, list->second));
    } else if (key == "saves") {
      JV_TRY(TakeParts(at, key, member, &out->saves));
    } else if (key == "saves_b") {
      JV_TRY(TakeParts(at, key, member, &out->saves_b.emplace()));
    } else if (key == "rows") {
      if (member.get(out->rows) != simdjson::SUCCESS) return at.Bad(key, "true or false");
    } else {
      return at.Bad(key,
                    "kinds, libraries, classes, names, precisions, kernels, when, saves, saves_b "
                    "or rows");
    }
  }
  if (out->kinds.empty()) return at.Bad("kinds", "a list of texts");
  return out->saves[2] > 0 ? Status() : at.Bad("saves", "three numbers, the last above 0");
}

}  // namespace

class FixReader {
 public:
  static Status AddFix(const EmbeddedFile& file, Fixes* out) {
    const At at{file.name, {}};
    simdjson::dom::parser parser;
    JV_ASSIGN(const object fields, ObjectIn(at, &parser, file.text));
    PatternInfo info;
    RuleRow row;
    const std::initializer_list<TextKey> keys = {{"id", &info.key, true},
                                                 {"label", &info.what, true},
                                                 {"framework", &row.framework},
                                                 {"signature", &row.signature},
                                                 {"evidence", &row.evidence},
                                                 {"path_a", &row.path_a},
                                                 {"path_b", &row.path_b},
                                                 {"excluded", &row.excluded},
                                                 {"target", &row.target},
                                                 {"source", &row.source},
                                                 {"open", &row.open},
                                                 {"record", &row.record},
                                                 {"action_a", &row.action_a.key},
                                                 {"action_b", &row.action_b.key},
                                                 {"part_of_a", &row.action_a.part_of},
                                                 {"part_of_b", &row.action_b.part_of}};
    for (const auto [key, value] : fields) {
      std::int64_t order = 0;
      if (key == "line") {
        LineRule& line = out->lines_.emplace_back();
        JV_TRY(TakeLine(at, value, &line));
        line.pattern = static_cast<Pattern>(out->patterns_.size());
      } else if (key == "elsewhere") {
        JV_TRY(TakeElsewhere(at, value, false, &row.elsewhere));
      } else if (key == "notable" || key == "inexact" || key == "own_kernel") {
        bool& flag = key == "notable"   ? info.notable
                     : key == "inexact" ? info.inexact
                                        : info.own_kernel;
        if (value.get(flag) != simdjson::SUCCESS) return at.Bad(key, "true or false");
      } else if (key == "order" || key == "section") {
        if (value.get(order) != simdjson::SUCCESS || order < 0 || order > 1'000'000)
          return at.Bad(key, "a whole number");
        (key == "order" ? info.order : info.section) = static_cast<int>(order);
      } else {
        JV_TRY(TakeText(at, key, value, keys));
      }
    }
    JV_TRY(NeedTexts(at, keys));
    if (info.key != file.name) return at.Bad("id", "the file's name");
    info.pattern = row.pattern = static_cast<Pattern>(out->patterns_.size());
    out->patterns_.push_back(std::move(info));
    const bool is_rule = !row.signature.empty();
    const bool of_line = !out->lines_.empty() && out->lines_.back().pattern == row.pattern;
    if (of_line && !is_rule) return at.Bad("signature", "a text");
    for (const TextKey& one : keys) {
      const bool of_rule = one.name != "id" && one.name != "label";
      if (of_rule && !is_rule && !one.to->empty()) return at.Bad("signature", "a text");
    }
    if (!is_rule) return {};
    JV_TRY(NeedTexts(at, {{"evidence", &row.evidence, true},
                          {"excluded", &row.excluded, true},
                          {"target", &row.target, true},
                          {"source", &row.source, true}}));
    row.action_a.facts = ShortFormFacts(row.path_a);
    row.action_b.facts = ShortFormFacts(row.path_b);
    out->rules_.push_back(std::move(row));
    return {};
  }

  static Status AddAction(const EmbeddedFile& file, Fixes* out) {
    const At at{file.name, {}};
    simdjson::dom::parser parser;
    JV_ASSIGN(const object fields, ObjectIn(at, &parser, file.text));
    AdviceInfo info;
    std::string path;
    const std::initializer_list<TextKey> keys = {
        {"id", &info.key, true}, {"path", &path, true},        {"what", &info.what, true},
        {"why", &info.why},      {"action", &info.action.key}, {"part_of", &info.action.part_of},
        {"open", &info.open},    {"record", &info.record},     {"framework", &info.framework}};
    for (const auto [key, value] : fields) {
      if (key == "elsewhere") {
        JV_TRY(TakeElsewhere(at, value, true, &info.elsewhere));
      } else if (key == "most") {
        if (value.get(info.most) != simdjson::SUCCESS || !(info.most > 0) || info.most > 1)
          return at.Bad(key, "a number above 0, at most 1");
      } else if (key == "needs") {
        JV_TRY(TakeNeeds(at, value, &info.needs));
      } else {
        JV_TRY(TakeText(at, key, value, keys));
      }
    }
    JV_TRY(NeedTexts(at, keys));
    if (info.key != file.name) return at.Bad("id", "the file's name");
    if (path != "A" && path != "B") return at.Bad("path", "\"A\" or \"B\"");
    info.path = path == "A" ? Path::kA : Path::kB;
    info.action.facts = ShortFormFacts(info.what);
    info.advice = static_cast<Advice>(out->advices_.size());
    out->advices_.push_back(std::move(info));
    return {};
  }

  static void SortRules(Fixes* out) {
    const auto order = [&](const RuleRow& row) {
      const PatternInfo& info = out->Of(row.pattern);
      return info.section > 0 ? info.section : info.order;
    };
    std::stable_sort(out->rules_.begin(), out->rules_.end(),
                     [&](const RuleRow& a, const RuleRow& b) { return order(a) < order(b); });
    std::stable_sort(out->lines_.begin(), out->lines_.end(),
                     [&](const LineRule& a, const LineRule& b) {
                       return out->Of(a.pattern).order < out->Of(b.pattern).order;
                     });
  }

  static Fixes Translated(const Fixes& fixes, std::string_view framework) {
    const auto there = [&](const auto& of) {
      const auto found = std::ranges::find(of.elsewhere, framework, &Elsewhere::framework);
      return found == of.elsewhere.end() ? Elsewhere() : *found;
    };
    Fixes out = fixes;
    for (RuleRow& row : out.rules_) {
      if (row.framework.empty()) continue;
      const Elsewhere other = there(row);
      row.path_a = other.path_a;
      row.path_b = other.path_b;
      row.open = row.record = {};
      row.action_a.facts = ShortFormFacts(row.path_a);
      row.action_b.facts = ShortFormFacts(row.path_b);
    }
    for (AdviceInfo& info : out.advices_) {
      if (info.framework.empty()) continue;
      const Elsewhere other = there(info);
      info.what = other.what;
      if (!other.why.empty()) info.why = other.why;
      info.open = info.record = {};
      info.action.facts = ShortFormFacts(info.what);
    }
    return out;
  }

  static Fixes OnPlatform(const Fixes& fixes, std::string_view platform) {
    Fixes out = fixes;
    for (RuleRow& row : out.rules_) {
      const auto found = std::ranges::find(row.elsewhere, platform, &Elsewhere::framework);
      const RuleRow* shipped = Shipped().RuleOf(row.pattern);
      if (found == row.elsewhere.end() || shipped == nullptr) continue;
      // A user's own words stay.
      if (!found->path_a.empty() && row.path_a == shipped->path_a) row.path_a = found->path_a;
      if (!found->path_b.empty() && row.path_b == shipped->path_b) row.path_b = found->path_b;
      row.action_a.facts = ShortFormFacts(row.path_a);
      row.action_b.facts = ShortFormFacts(row.path_b);
    }
    for (AdviceInfo& info : out.advices_) {
      const auto found = std::ranges::find(info.elsewhere, platform, &Elsewhere::framework);
      if (found == info.elsewhere.end() || info.what != Info(info.advice).what) continue;
      info.what = found->what;
      info.action.facts = ShortFormFacts(info.what);
    }
    return out;
  }

  // One entry of a user's file.
  static Status Reword(std::string_view file, const object& entry, std::size_t number, Fixes* out) {
    const std::string nth = fmt::format("{}", number);
    std::string_view id;
    if (entry["id"].get(id) != simdjson::SUCCESS) return At{file, nth}.Bad("id", "the id of a fix");
    const At at{file, id};
    for (PatternInfo& info : out->patterns_) {
      if (info.key != id) continue;
      RuleRow* row = nullptr;
      for (RuleRow& one : out->rules_)
        row = one.pattern == info.pattern ? &one : row;
      if (row == nullptr) return Replace(at, entry, {{"label", &info.what}});
      return Replace(at, entry,
                     {{"label", &info.what},
                      {"evidence", &row->evidence},
                      {"path_a", &row->path_a},
                      {"path_b", &row->path_b}});
    }
    for (AdviceInfo& info : out->advices_) {
      if (info.key == id) return Replace(at, entry, {{"what", &info.what}, {"why", &info.why}});
    }
    std::vector<std::string_view> ids;
    for (const PatternInfo& info : out->patterns_)
      ids.push_back(info.key);
    for (const AdviceInfo& info : out->advices_)
      ids.push_back(info.key);
    const auto close = Closest(id, ids);
    return at.Bad("id", close ? fmt::format("the id of a fix (docs/rules.md); is it {}?", *close)
                              : std::string("the id of a fix (docs/rules.md)"));
  }

 private:
  static Status Replace(const At& at, const object& entry, std::initializer_list<TextKey> keys) {
    for (const auto [key, value] : entry) {
      if (key == "id") continue;
      std::string ours, theirs;
      for (const TextKey& one : keys)
        ours = one.name == key ? *one.to : ours;
      for (const TextKey& one : keys) {
        if (one.name == key && ours.empty())
          return at.Bad(key, "nothing: this fix has no such text");
      }
      JV_TRY(TakeText(at, key, value, keys));
      for (const TextKey& one : keys)
        theirs = one.name == key ? *one.to : theirs;
      JV_TRY(CheckWords(at, key, ours, theirs));
    }
    return {};
  }

  // What the shipped text names can be named, under the conditions under which it is known.
  static Status CheckWords(const At& at, std::string_view key, std::string_view ours,
                           std::string_view theirs) {
    for (const std::string_view markup : {"<", ">", "|", "](", "#"}) {
      if (theirs.find(markup) != theirs.npos && ours.find(markup) == ours.npos)
        return at.Bad(key, fmt::format("a text without {}", markup));
    }
    if (std::count(theirs.begin(), theirs.end(), '`') % 2 != 0)
      return at.Bad(key, "backticks in pairs");
    const std::vector<Placeholder> known = PlaceholdersOf(ours);
    for (const Placeholder& one : PlaceholdersOf(theirs)) {
      const auto found = std::find_if(known.begin(), known.end(),
                                      [&](const Placeholder& of) { return of.key == one.key; });
      if (found == known.end()) {
        std::vector<std::string> keys;
        for (const Placeholder& of : known)
          keys.push_back("{" + of.key + "}");
        return at.Bad(key,
                      fmt::format("of {{placeholders}} {}, not {{{}}}",
                                  keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", ")),
                                  OneLine(Utf8Prefix(one.key, kNameShown))));
      }
      const bool always = std::any_of(known.begin(), known.end(), [&](const Placeholder& of) {
        return of.key == one.key && !of.optional;
      });
      if (!always && !one.optional) {
        return at.Bad(
            key, fmt::format("{{{}}} in [[double brackets]]: it is not always known", one.key));
      }
    }
    return {};
  }
};

const RuleRow* Fixes::RuleOf(Pattern pattern) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const RuleRow& row) { return row.pattern == pattern; });
  return found == rules_.end() ? nullptr : &*found;
}

Result<Fixes> ReadFixes(std::span<const EmbeddedFile> fixes,
                        std::span<const EmbeddedFile> actions) {
  Fixes out;
  for (const EmbeddedFile& file : fixes)
    JV_TRY(FixReader::AddFix(file, &out));
  for (const EmbeddedFile& file : actions)
    JV_TRY(FixReader::AddAction(file, &out));
  FixReader::SortRules(&out);
  return out;
}

const Fixes& Shipped() {
  static const Fixes fixes = [] {
    Result<Fixes> made = ReadFixes(FixFiles(), ActionFiles());
    JV_CHECK(made);  // built in and tested
    JV_CHECK(made->patterns().size() == static_cast<std::size_t>(Pattern::kCount));
    JV_CHECK(made->advices().size() == static_cast<std::size_t>(Advice::kCount));
    return *std::move(made);
  }();
  return fixes;
}

std::string_view WordsFor(std::string_view recorded) {
  if (recorded == "PyTorch") return {};
  constexpr std::string_view kOwn[] = {"JAX", "TensorFlow", "XLA"};  // compilers choose kernels
  return std::ranges::find(kOwn, recorded) == std::end(kOwn) ? kAnyFramework : recorded;
}

Fixes ForFramework(const Fixes& fixes, std::string_view framework) {
  return FixReader::Translated(fixes, framework);
}

Fixes ForPlatform(const Fixes& fixes, std::string_view platform) {
  return FixReader::OnPlatform(fixes, platform);
}

bool IsKnownIn(Advice advice, std::string_view framework) {
  const AdviceInfo& info = Info(advice);
  return framework.empty() || info.framework.empty() ||
         std::ranges::any_of(info.elsewhere, [&](const Elsewhere& one) {
           return one.framework == framework && !one.what.empty();
         });
}

Result<std::shared_ptr<const Fixes>> ShippedWith(std::string_view file, std::string_view json) {
  const At at{file, {}};
  simdjson::dom::parser parser;
  JV_ASSIGN(const object fields, ObjectIn(at, &parser, json));
  element given;
  if (fields["fixes"].get(given) != simdjson::SUCCESS) return nullptr;
  array entries;
  if (given.get(entries) != simdjson::SUCCESS) return at.Bad("fixes", "a list of objects");
  auto made = std::make_shared<Fixes>(Shipped());
  std::size_t number = 0;
  for (const element item : entries) {
    object entry;
    ++number;
    if (item.get(entry) != simdjson::SUCCESS) return at.Bad("fixes", "a list of objects");
    JV_TRY(FixReader::Reword(file, entry, number, made.get()));
  }
  return made;
}

}  // namespace jarvis::levers
