#include "rocprof/job/counter_names.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"

namespace jarvis::rocprof {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

// The file is ours: what is wrong with it is our bug.
object MemberOf(const object& of, std::string_view key) {
  object member;
  JV_CHECK(of[key].get(member) == simdjson::SUCCESS);
  return member;
}

struct CounterFile {
  CounterFile() {
    const std::string_view text = CounterFiles().front().text;
    element document;
    JV_CHECK(ParseDom(&parser, text, &document) == simdjson::SUCCESS);
    JV_CHECK(document.get(root) == simdjson::SUCCESS);
  }
  simdjson::dom::parser parser;
  object root;
};

const object& Root() {
  static const CounterFile file;
  return file.root;
}

std::vector<std::string> Texts(const element& list) {
  std::vector<std::string> texts;
  simdjson::dom::array items;
  JV_CHECK(list.get(items) == simdjson::SUCCESS);
  for (const element item : items) {
    std::string_view text;
    JV_CHECK(item.get(text) == simdjson::SUCCESS);
    texts.emplace_back(text);
  }
  return texts;
}

// "TCC_HIT_sum", "TCC_HIT[3]": TCC_HIT.
std::string_view Plain(std::string_view counter) {
  counter = counter.substr(0, counter.find('['));
  for (const std::string_view ending : {"_sum", "_avr", "_max", "_min"}) {
    if (counter.ends_with(ending)) return counter.substr(0, counter.size() - ending.size());
  }
  return counter;
}

}  // namespace

Result<CounterNames> CounterNames::For(std::string_view arch) {
  arch = arch.substr(0, arch.find(':'));
  if (arch == "gfx940" || arch == "gfx941") arch = "gfx942";  // its early steppings
  const object archs = MemberOf(Root(), "archs");
  object own;
  if (archs[arch].get(own) != simdjson::SUCCESS) {
    std::string known;
    for (const auto member : archs)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", std::string_view(member.key));
    return Fail(ErrorCode::kBadValue,
                fmt::format("arch: \"{}\" has no list of counters. There are: {}",
                            OneLine(Utf8Prefix(arch, 40)), known));
  }
  CounterNames names;
  for (const object& of : {Root(), own}) {
    for (const auto block : MemberOf(of, "basic")) {
      for (std::string& counter : Texts(block.value))
        names.basics_[counter] = {counter};
    }
    for (const auto derived : MemberOf(of, "derived"))
      names.basics_[std::string(derived.key)] = Texts(derived.value);
  }
  for (const auto block : MemberOf(Root(), "limits")) {
    std::uint64_t limit = 0;
    JV_CHECK(block.value.get(limit) == simdjson::SUCCESS);
    names.limits_[std::string(block.key)] = limit;
  }
  return names;
}

std::vector<std::string> CounterNames::BasicsOf(std::string_view counter) const {
  auto found = basics_.find(counter);
  if (found == basics_.end()) found = basics_.find(Plain(counter));
  return found == basics_.end() ? std::vector<std::string>() : found->second;
}

std::string CounterNames::BlockOf(std::string_view basic) const {
  std::string block(basic.substr(0, basic.find('_')));
  if (block == "SQC") block = "SQ";  // the caches share the block's counters
  return limits_.contains(block) ? block : std::string();
}

std::size_t CounterNames::LimitOf(std::string_view block) const {
  const auto found = limits_.find(block);
  return found == limits_.end() ? SIZE_MAX : found->second;
}

std::string CounterNames::ClosestTo(std::string_view counter) const {
  std::vector<std::string_view> candidates;
  for (const auto& [name, basics] : basics_)
    candidates.push_back(name);
  const auto found = Closest(Plain(counter), candidates);
  return found ? std::string(*found) : std::string();
}

std::vector<std::vector<std::string>> SplitIntoPasses(const CounterNames& names,
                                                      const std::vector<std::string>& counters) {
  struct Pass {
    std::vector<std::string> counters;
    std::map<std::string, std::set<std::string>> used;  // basics by block
  };
  std::vector<Pass> passes;
  for (const std::string& counter : counters) {
    std::vector<std::string> basics = names.BasicsOf(counter);
    if (basics.empty()) basics.push_back(counter);
    const auto fits = [&](const Pass& pass) {
      auto used = pass.used;
      for (const std::string& basic : basics)
        used[names.BlockOf(basic)].insert(basic);
      return std::all_of(used.begin(), used.end(), [&](const auto& block) {
        return block.first.empty() || block.second.size() <= names.LimitOf(block.first);
      });
    };
    auto pass = std::find_if(passes.begin(), passes.end(), fits);
    if (pass == passes.end()) pass = passes.insert(passes.end(), Pass());
    pass->counters.push_back(counter);
    for (const std::string& basic : basics)
      pass->used[names.BlockOf(basic)].insert(basic);
  }
  std::vector<std::vector<std::string>> split;
  for (Pass& pass : passes)
    split.push_back(std::move(pass.counters));
  return split;
}

}  // namespace jarvis::rocprof
