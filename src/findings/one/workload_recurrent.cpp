#include "findings/one/workload_recurrent.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

// Of the calls' time, to be told as those of the network.
constexpr double kOneNetwork = 0.6;

bool IsRecurrentName(std::string_view name) {
  constexpr std::string_view kParts[] = {"cudnn_rnn",  "cudnnrnn", "miopen_rnn",   "miopenrnn",
                                         "lstm",       "rnn_tanh", "rnn_relu",     "rnntanh",
                                         "rnnrelu",    "::gru",    "_gru_cell",    "grucell",
                                         "_fused_gru", "fusedgru", "quantized_gru"};
  const bool ours = name.starts_with("aten::") || name.starts_with("quantized::") ||
                    name.starts_with("autograd::engine") || name.ends_with("Backward0") ||
                    name.starts_with("CudnnRNN");
  // What only lays weights out in memory, or asks whether it may, computes nothing.
  return ours && !ContainsNoCase(name, "flatten_weight") && !ContainsNoCase(name, "::_use_") &&
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return ContainsNoCase(name, part); });
}

std::string_view CellOfName(std::string_view name) {
  if (ContainsNoCase(name, "lstm")) return "LSTM";
  if (ContainsNoCase(name, "gru")) return "GRU";
  return "";
}

struct RecurrentCall {
  std::string cell;
  std::string_view op;
  std::optional<std::int64_t> hidden, layers;
  std::optional<bool> both_ways;
  std::int64_t batch = 0, steps = 0;
};

std::optional<bool> BoolOf(std::string_view text) {
  if (text == "True") return true;
  if (text == "False") return false;
  return std::nullopt;
}

// Where a fused op has its settings among its arguments; -1: nowhere.
struct SettingsAt {
  int mode = -1, hidden = -1, layers = -1, first_is_batch = -1, both_ways = -1;
};

// _cudnn_rnn(input, weights, stride, buffer, hx, cx, mode, hidden, projected, layers, batch first,
// dropout, train, both ways, ...), before PyTorch 1.8 without `projected`; miopen_rnn has no buffer
// either. aten::lstm and its like: (..., has biases, layers, dropout, train, both ways[, batch
// first]).
SettingsAt SettingsOf(std::string_view name, const std::vector<std::string>& values) {
  if (ContainsNoCase(name, "cudnn_rnn"))
    return values.size() >= 16 ? SettingsAt{6, 7, 9, 10, 13} : SettingsAt{6, 7, 8, 9, 12};
  if (ContainsNoCase(name, "miopen_rnn")) return {5, 6, 7, 8, 11};
  const auto biases = std::find_if(values.begin(), values.end(), [](const std::string& value) {
    return BoolOf(value).has_value();
  });
  const auto at = static_cast<int>(biases - values.begin());
  if (at < 3 || at > 4) return {};
  const bool padded = at + 5 < static_cast<int>(values.size());
  return {-1, -1, at + 1, padded ? at + 5 : -1, at + 4};
}

class CallReader {
 public:
  CallReader(std::string_view name, std::string_view dims, std::string_view concrete)
      : name_(name), shapes_(ParseShapes(dims)), values_(ParseTypes(concrete)) {}

  std::optional<RecurrentCall> Read() {
    if (shapes_.empty() || shapes_.front().size() < 2) return std::nullopt;
    call_.op = name_;
    call_.cell = CellOfName(name_);
    if (ContainsNoCase(name_, "cell")) {
      ReadCell();
    } else {
      ReadFused();
    }
    return std::move(call_);
  }

 private:
  std::string_view Value(int at) const {
    return at >= 0 && static_cast<std::size_t>(at) < values_.size()
               ? std::string_view(values_[static_cast<std::size_t>(at)])
               : std::string_view();
  }

  // The state's shape is [layers and directions, batch, width] whatever the input's is: rows of
  // packed sequences are no batch.
  void ReadFused() {
    const SettingsAt at = SettingsOf(name_, values_);
    if (const auto mode = ParseInt(Value(at.mode))) {
      call_.cell = *mode == 2 ? "LSTM" : *mode == 3 ? "GRU" : "";
    }
    call_.hidden = ParseInt(Value(at.hidden));
    call_.layers = ParseInt(Value(at.layers));
    call_.both_ways = BoolOf(Value(at.both_ways));
    const auto state = std::find_if(shapes_.begin() + 1, shapes_.end(),
                                    [](const Shape& shape) { return shape.size() == 3; });
    const Shape& input = shapes_.front();
    const std::optional<bool> batch_first = BoolOf(Value(at.first_is_batch));
    if (state != shapes_.end()) {
      call_.batch = (*state)[1];
      // The first state may be a projection; the cell's own, of an LSTM the second, is none.
      const auto second = state + 1;
      const bool own = call_.cell == "LSTM" && second != shapes_.end() && second->size() == 3;
      if (!call_.hidden) call_.hidden = own ? (*second)[2] : (*state)[2];
    } else if (input.size() == 3 && batch_first) {
      call_.batch = input[*batch_first ? 0 : 1];
    }
    if (input.size() != 3 || call_.batch == 0) return;
    const bool first = batch_first.value_or(input[0] == call_.batch && input[1] != call_.batch);
    if (input[first ? 0 : 1] == call_.batch) call_.steps = input[first ? 1 : 0];
  }

  // One time step: lstm_cell(input, [hx, cx], ...), or the gates of both products before the
  // element-wise part.
  void ReadCell() {
    call_.batch = shapes_.front()[0];
    call_.steps = 1;
    const bool gates = ContainsNoCase(name_, "fused");
    const std::int64_t each = call_.cell == "LSTM" ? 4 : call_.cell == "GRU" ? 3 : 1;
    if (gates && shapes_.front()[1] % each == 0) call_.hidden = shapes_.front()[1] / each;
    if (!gates && shapes_.size() > 1 && shapes_[1].size() == 2) call_.hidden = shapes_[1][1];
  }

  std::string_view name_;
  std::vector<Shape> shapes_;
  std::vector<std::string> values_;
  RecurrentCall call_;
};

class RecurrenceFinder {
 public:
  RecurrenceFinder(const WorkloadFacts& facts, std::uint64_t passes)
      : facts_(facts), passes_(passes), events_(facts.trace.events()), tree_(facts.trace.tree()) {}

  std::optional<Recurrence> Run() {
    FindCalls();
    AddBackward();
    if (out_.gpu_us <= 0) ByKernels();
    if (out_.gpu_us <= 0) return std::nullopt;
    TakeSizes();
    return std::move(out_);
  }

 private:
  double GpuBelow(EventIndex e) const {
    double us = 0;
    for (const EventIndex gpu : tree_.GpuBelow(e))
      us += trace::MicrosOf(events_[gpu].dur_ns);
    return us;
  }

  bool IsRecurrent(EventIndex e) {
    if (events_[e].kind != trace::EventKind::kCpuOp) return false;
    const auto [known, added] = names_.try_emplace(events_[e].name);
    if (added) known->second = IsRecurrentName(events_.name(e));
    return known->second;
  }

  void FindCalls() {
    const auto order = tree_.preorder();
    for (std::uint32_t i = 0; i < order.size();) {
      if (!IsRecurrent(order[i])) {
        ++i;
        continue;
      }
      const std::uint32_t end = tree_.subtree_end(order[i]);
      ranges_.emplace_back(i, end);
      const double us = GpuBelow(order[i]);
      out_.gpu_us += us;
      if (!ContainsNoCase(events_.name(order[i]), "backward")) ReadCall(order[i], us);
      i = end;
    }
  }

  // What the outermost op tells, and from those below it what it does not.
  void ReadCall(EventIndex outer, double us) {
    RecurrentCall call;
    call.op = events_.name(outer);
    call.cell = CellOfName(call.op);
    for (const EventIndex e : tree_.Subtree(outer)) {
      if (!IsRecurrent(e)) continue;
      const trace::Args& args = events_.args_of(e);
      const auto told =
          CallReader(events_.name(e), events_.text(args.dims), events_.text(args.concrete)).Read();
      if (!told) continue;
      if (call.cell.empty()) call.cell = told->cell;
      if (!call.hidden) call.hidden = told->hidden;
      if (!call.layers) call.layers = told->layers;
      if (!call.both_ways) call.both_ways = told->both_ways;
      if (call.batch == 0) call.batch = told->batch;
      // Below a layer a cell is one of its time steps.
      if (call.steps == 0 && (e == outer || told->steps != 1)) call.steps = told->steps;
      if (call.batch > 0 && call.hidden) break;
    }
    calls_.emplace_back(us, std::move(call));
  }

  bool IsInside(std::uint32_t position) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(position, UINT32_MAX));
    return after != ranges_.begin() && position < std::prev(after)->second;
  }

  // Of cells that are made of products the backward pass has no name of its own.
  void AddBackward() {
    if (ranges_.empty()) return;
    const auto order = tree_.preorder();
    for (std::uint32_t i = 0; i < order.size();) {
      const EventIndex forward = tree_.ForwardOf(order[i]);
      const std::uint32_t position =
          forward == kNoEvent ? tree::kNoPosition : tree_.position(forward);
      if (position == tree::kNoPosition || !IsInside(position) || IsInside(i)) {
        ++i;
        continue;
      }
      const std::uint32_t end = tree_.subtree_end(order[i]);
      const auto below = std::lower_bound(ranges_.begin(), ranges_.end(), std::pair(i, 0u));
      const bool named = below != ranges_.end() && below->first < end;  // and counted already
      if (!named) out_.gpu_us += GpuBelow(order[i]);
      i = end;
    }
  }

  // Without ops: by the kernels that only recurrent layers have.
  void ByKernels() {
    if (facts_.trace.recorded().cpu_ops) return;
    const NamedWork work =
        Containing(facts_.kernels, {"lstm_elementwise", "gru_elementwise", "elemwisernncell",
                                    "rnn_blockpersist", "persistrnn", "lstmfwd", "lstmbwd"});
    out_.gpu_us = work.us;
    out_.op = Utf8Prefix(work.name, 60);
    out_.cell = CellOfName(work.name);
  }

  void TakeSizes() {
    std::map<std::tuple<std::string, std::int64_t, int>, double> alike;  // cell, hidden, directions
    const auto key = [](const RecurrentCall& call) {
      return std::tuple(call.cell, call.hidden.value_or(0),
                        call.both_ways ? static_cast<int>(*call.both_ways) : -1);
    };
    double all_us = 0;
    for (const auto& [us, call] : calls_) {
      alike[key(call)] += us;
      all_us += us;
    }
    if (alike.empty()) return;
    const auto most =
        std::max_element(alike.begin(), alike.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->second < kOneNetwork * all_us) return CellOfAll();
    std::vector<const RecurrentCall*> main;
    for (const auto& [us, call] : calls_) {
      if (key(call) == most->first) main.push_back(&call);
    }
    const RecurrentCall& first = *main.front();
    out_.op = first.op;
    out_.cell = first.cell;
    out_.hidden = first.hidden;
    out_.both_ways = first.both_ways;
    const auto range = [&](std::int64_t RecurrentCall::*size, std::int64_t* least,
                           std::int64_t* largest) {
      *least = *largest = first.*size;
      for (const RecurrentCall* call : main) {
        *least = std::min(*least, call->*size);
        *largest = std::max(*largest, call->*size);
      }
    };
    range(&RecurrentCall::batch, &out_.batch_least, &out_.batch_most);
    range(&RecurrentCall::steps, &out_.steps_least, &out_.steps_most);
    TakeLayers(main);
  }

  // Networks of different sizes of one kind of cell.
  void CellOfAll() {
    const bool same = std::all_of(calls_.begin(), calls_.end(), [&](const auto& one) {
      return one.second.cell == calls_.front().second.cell;
    });
    out_.op = calls_.front().second.op;
    if (same) out_.cell = calls_.front().second.cell;
  }

  // As often as modules of the class are there; without modules, where the op runs once a pass.
  void TakeLayers(const std::vector<const RecurrentCall*>& main) {
    const auto layers = main.front()->layers;
    const bool same = std::all_of(main.begin(), main.end(),
                                  [&](const RecurrentCall* one) { return one->layers == layers; });
    if (!layers || !same || main.size() != calls_.size()) return;
    const auto modules = facts_.instances.find(out_.cell.empty() ? "RNN" : out_.cell);
    if (modules != facts_.instances.end()) {
      out_.layers = *layers * static_cast<std::int64_t>(modules->second);
    } else if (main.size() == passes_) {
      out_.layers = layers;
    }
  }

  const WorkloadFacts& facts_;
  const std::uint64_t passes_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::unordered_map<StringId, bool> names_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;  // places in preorder, in order
  std::vector<std::pair<double, RecurrentCall>> calls_;          // forward, with their GPU time
  Recurrence out_;
};

}  // namespace

std::optional<Recurrence> FindRecurrence(const WorkloadFacts& facts, std::uint64_t passes) {
  return RecurrenceFinder(facts, passes).Run();
}

void TellRecurrence(const WorkloadFacts& facts, const Recurrence& recurrence, Workload* out) {
  std::string family = "recurrent network";
  if (!recurrence.cell.empty()) family += fmt::format(" ({})", recurrence.cell);
  if (recurrence.both_ways.value_or(false)) family += ", bidirectional";
  if (Containing(facts.ops, {"ctc_loss", "ctcloss"}).count > 0)
    family += facts.backward ? ", trained with CTC" : ", with a CTC loss";
  out->Set(WorkloadPart::kFamily, std::move(family), Certainty::kInferred,
           fmt::format("{} with {:.0f}% of the compute time", recurrence.op,
                       100 * recurrence.gpu_us / facts.ComputeUs()));
  const std::string operands = "operands of " + recurrence.op;
  if (recurrence.layers) {
    out->Set(WorkloadPart::kLayers, fmt::to_string(*recurrence.layers), Certainty::kRecorded,
             operands);
  }
  if (recurrence.hidden) {
    out->Set(WorkloadPart::kHidden, fmt::to_string(*recurrence.hidden), Certainty::kRecorded,
             operands);
  }
  TellBatchOf(recurrence, out);
}

void TellBatchOf(const Recurrence& recurrence, Workload* out) {
  if (recurrence.batch_least <= 0) return;
  std::string batch = "batch " + FromTo(recurrence.batch_least, recurrence.batch_most);
  if (recurrence.steps_least > 1)
    batch += fmt::format(" x {} time steps", FromTo(recurrence.steps_least, recurrence.steps_most));
  out->Set(WorkloadPart::kBatch, std::move(batch), Certainty::kRecorded,
           "operands of " + recurrence.op);
}

}  // namespace jarvis::findings
