#include "trace/import/xplane/op_table.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::trace::xplane {
namespace {

struct Program {
  std::int64_t id = 0;
  std::string_view proto;
  std::optional<hlo::Module> module;
  std::string problem;
};

std::vector<Program> ProgramsIn(const Space& space) {
  std::vector<Program> programs;
  for (const Plane& plane : space.planes) {
    if (plane.name != "/host:metadata") continue;
    for (const auto& [id, name] : plane.event_names) {
      for (const std::string_view message : name.stats) {
        Stat stat;
        if (ReadStat(message, &stat) && stat.kind == Stat::Kind::kBytes)
          programs.push_back({id, stat.text, std::nullopt, {}});
      }
    }
  }
  std::ranges::sort(programs, {}, &Program::id);
  return programs;
}

}  // namespace

OpTable::OpTable(const Space& space, int threads) {
  std::vector<Program> programs = ProgramsIn(space);
  ParallelFor(programs.size(), threads, [&](std::size_t i) {
    programs[i].module = hlo::Module::Read(programs[i].proto, &programs[i].problem);
  });
  for (Program& program : programs) {
    if (!program.module) {
      problems_.push_back(std::move(program.problem));
      continue;
    }
    modules_.push_back(std::make_unique<const hlo::Module>(std::move(*program.module)));
    const hlo::Module* module = modules_.back().get();
    by_program_.emplace(program.id, module);
    const auto [named, added] = by_name_.emplace(module->name(), module);
    if (!added) named->second = nullptr;
  }
}

const hlo::Module* OpTable::ModuleOf(std::string_view name, std::int64_t program) const {
  if (program != kAbsent) {
    const auto found = by_program_.find(program);
    if (found != by_program_.end()) return found->second;
  }
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Op* OpTable::Add(const Key& key, const std::function<void(Op*)>& fill) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const Op>& op = ops_[key];
  if (op == nullptr) {
    auto made = std::make_unique<Op>();
    std::tie(made->module, made->program, made->name) = key;
    fill(made.get());
    if (!made->known) ++unresolved_;
    op = std::move(made);
  }
  return op.get();
}

const Op* OpTable::Find(const EventFacts& facts) {
  if (facts.hlo_op.empty()) return nullptr;
  return Add({facts.hlo_module, facts.program, facts.hlo_op}, [&](Op* op) {
    const hlo::Module* module = ModuleOf(op->module, op->program);
    if (module == nullptr) return;
    const hlo::FoundInstruction found = hlo::FindInstruction(*module, op->name);
    if (found.instruction == nullptr) return;
    op->facts = hlo::FactsOf(*module, found);
    op->known = true;
  });
}

const Op* OpTable::FindCounted(const EventName& name, const EventFacts& facts) {
  // Keys are views into the file.
  const std::string_view shown = name.display.empty() ? name.name : name.display;
  return Add({facts.hlo_module, facts.program, shown}, [&](Op* op) {
    const hlo::Module* module = ModuleOf(op->module, op->program);
    const auto found =
        module == nullptr ? hlo::FoundInstruction() : hlo::FindInstruction(*module, op->name);
    op->facts = hlo::FactsOfText({name.name, facts.category, facts.flops, facts.bytes});
    if (found.instruction != nullptr) {
      // The program tells shapes and names; what was counted stays.
      hlo::OpFacts of_module = hlo::FactsOf(*module, found);
      std::erase_if(of_module.args,
                    [](const auto& arg) { return arg.first == "flops" || arg.first == "bytes"; });
      if (facts.flops) of_module.AddNumber("flops", *facts.flops);
      if (facts.bytes) of_module.AddNumber("bytes", *facts.bytes);
      op->facts = std::move(of_module);
    } else {
      op->facts.Add("op_name", facts.framework_op);
      op->facts.Add("source", facts.source);
    }
    op->known = true;
  });
}

void OpTable::EachScope(const std::function<void(std::string_view)>& look) const {
  for (const auto& [key, op] : ops_) {
    look(op->module);
    for (const auto& [name, json] : op->facts.args) {
      if (name == "op_name") look(json);
    }
  }
}

void AddOpArgs(const Op& op, ArgText* args) {
  if (!op.module.empty()) args->Text("hlo_module", op.module);
  if (op.program != kAbsent) args->Number("program_id", op.program);
  for (const auto& [key, json] : op.facts.args)
    args->Raw(key, json);
  if (op.facts.exchange) AddExchange(*op.facts.exchange, std::nullopt, args);
}

namespace {

// The group of "[[0,1],[2,3]]" that a device is in; of one group that one. Empty: in none.
std::string_view GroupOf(std::string_view groups, std::optional<std::int64_t> device) {
  const auto lists = ElementsOf(groups);
  if (lists.size() == 1) return lists.front();
  if (!device) return {};
  for (const std::string_view list : lists) {
    for (const std::string_view rank : ElementsOf(list)) {
      if (IntegerOf(rank) == device) return list;
    }
  }
  return {};
}

}  // namespace

void AddExchange(const hlo::Exchange& exchange, std::optional<std::int64_t> device, ArgText* args) {
  args->Text("Collective name", exchange.name);
  args->Raw("In msg nelems", fmt::format("{:.0f}", exchange.in_elements));
  args->Raw("Out msg nelems", fmt::format("{:.0f}", exchange.out_elements));
  if (!exchange.dtype.empty()) args->Text("dtype", exchange.dtype);
  if (exchange.group_size > 0) args->Number("Group size", exchange.group_size);
  if (exchange.groups.empty()) return;
  args->Text("Process Group Name", exchange.groups);
  const std::string_view group = GroupOf(exchange.groups, device);
  if (!group.empty()) args->Text("Process Group Ranks", group);
}

}  // namespace jarvis::trace::xplane
