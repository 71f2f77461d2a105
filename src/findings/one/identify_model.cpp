#include "findings/one/identify_model.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/shapes.h"

namespace jarvis::findings {
namespace {

using trace::EventKind;

constexpr double kSure = 0.9;
constexpr double kLikely = 0.6;

// Suffixes of the class that is one layer of a model: "Qwen2DecoderLayer".
constexpr std::string_view kLayerSuffixes[] = {"DecoderLayer", "EncoderLayer", "TransformerBlock",
                                               "Bottleneck",   "BasicBlock",   "Layer",
                                               "Block"};

bool EndsIn(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() && name.ends_with(suffix);
}

class Identifier {
 public:
  Identifier(const session::LoadedTrace& trace, const std::vector<CategoryAnalysis>& categories)
      : trace_(trace), categories_(categories) {}

  ModelIdentity Run() {
    CollectFrames();
    CollectWork();
    Model();
    Architecture();
    Scale();
    Precision();
    Workload();
    for (const auto& [name, instances] : classes_)
      out_.module_classes.push_back(name);
    return std::move(out_);
  }

 private:
  void CollectFrames() {
    const trace::EventStore& events = trace_.events();
    std::set<StringId> seen;
    for (const trace::EventIndex e : trace_.tree().preorder()) {
      const trace::Event& event = events[e];
      if (event.kind == EventKind::kCpuOp) {
        backward_ = backward_ || trace_.tree().ForwardOf(e) != trace::kNoEvent;
        continue;
      }
      if (event.kind != EventKind::kPythonFunction || !seen.insert(event.name).second) continue;
      const std::string_view name = events.strings[event.name];
      const std::string_view module = analysis::ModuleClass(name);
      if (!module.empty()) {
        classes_[std::string(module)].insert(std::string(name));
        continue;
      }
      optimizer_ = optimizer_ || (name.find("torch/optim/") != std::string_view::npos &&
                                  name.find("step") != std::string_view::npos);
      constexpr std::string_view kFolder = "transformers/models/";
      const std::size_t at = name.find(kFolder);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = name.substr(at + kFolder.size());
      const std::size_t slash = rest.find('/');
      if (slash != std::string_view::npos && rest.find("modeling_") != std::string_view::npos)
        ++files_[std::string(rest.substr(0, slash))];
    }
  }

  void CollectWork() {
    for (const CategoryAnalysis& category : categories_) {
      kinds_[category.kind] += category.gpu_us;
      for (const Operation& operation : category.operations) {
        softmax_ = softmax_ || ContainsNoCase(operation.name, "softmax");
        optimizer_ = optimizer_ || ContainsNoCase(operation.name, "adam") ||
                     ContainsNoCase(operation.name, "_fused_sgd");
        backward_ = backward_ || ContainsNoCase(operation.name, "backward");
        AddPrecision(category.kind, operation);
        if (category.kind == Kind::kGemm) AddSizes(operation);
      }
    }
  }

  void AddPrecision(Kind kind, const Operation& operation) {
    if (kind != Kind::kGemm && kind != Kind::kSdpa && kind != Kind::kConvolution &&
        kind != Kind::kMoe) {
      return;
    }
    std::string type;
    const std::size_t mark = operation.efficiency.spec.rfind('_');
    if (mark != std::string::npos) {
      type = operation.efficiency.spec.substr(mark + 1);
    } else {
      const std::size_t blank = operation.args.find(") ");
      const std::size_t end = operation.args.find('<');
      if (blank != std::string::npos)
        type = operation.args.substr(blank + 2, end == std::string::npos ? end : end - blank - 2);
    }
    if (!type.empty()) types_[type] += operation.gpu_us;
  }

  void AddSizes(const Operation& operation) {
    double m = 0, n = 0, k = 0;
    for (const Fact& fact : operation.details) {
      const auto* value = std::get_if<std::int64_t>(&fact.value);
      if (value == nullptr) continue;
      if (fact.key == "M") m = static_cast<double>(*value);
      if (fact.key == "N") n = static_cast<double>(*value);
      if (fact.key == "K") k = static_cast<double>(*value);
      if (fact.key == "batch" && *value > 1) return;  // attention's own products
    }
    if (m <= 0 || n <= 0 || k <= 0) return;
    inner_[k] += operation.count;
    widest_ = std::max(widest_, n);
  }

  static void Set(IdentityField* field, std::string value, std::vector<std::string> evidence,
                  double confidence) {
    if (confidence < 0.5) return;
    field->value = std::move(value);
    field->evidence = std::move(evidence);
    field->confidence = confidence;
  }

  // The class of a layer, and how many instances of it there are.
  std::pair<std::string, std::size_t> LayerClass() const {
    for (const std::string_view suffix : kLayerSuffixes) {
      std::pair<std::string, std::size_t> best;
      for (const auto& [name, instances] : classes_) {
        if (EndsIn(name, suffix) && instances.size() > best.second) best = {name, instances.size()};
      }
      if (best.second > 0) return best;
    }
    return {};
  }

  void Model() {
    const auto most =
        std::max_element(files_.begin(), files_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != files_.end()) {
      Set(&out_.model, most->first,
          {fmt::format("Python frames in transformers/models/{}/", most->first)}, kSure);
      return;
    }
    // A class that names itself: Qwen2ForCausalLM, BertModel, ResNet.
    constexpr std::string_view kWhole[] = {"ForCausalLM",
                                           "ForConditionalGeneration",
                                           "LMHeadModel",
                                           "ForObjectDetection",
                                           "ForImageClassification",
                                           "ForSequenceClassification",
                                           "ForMaskedLM",
                                           "Model"};
    for (const std::string_view suffix : kWhole) {
      for (const auto& [name, instances] : classes_) {
        if (EndsIn(name, suffix) && name.size() > suffix.size() + 1) {
          Set(&out_.model, name.substr(0, name.size() - suffix.size()), {"module class " + name},
              kSure);
          return;
        }
      }
    }
    for (const char* known : {"ResNet", "VisionTransformer", "UNet", "DLRM", "VGG", "EfficientNet",
                              "MobileNetV2", "GPT", "GPT2", "Llama", "Bert", "T5"}) {
      if (classes_.contains(known)) {
        Set(&out_.model, known, {std::string("module class ") + known}, kSure);
        return;
      }
    }
    const auto [layer, count] = LayerClass();
    for (const std::string_view suffix : kLayerSuffixes) {
      if (!EndsIn(layer, suffix)) continue;
      const std::string family = layer.substr(0, layer.size() - suffix.size());
      if (family.size() > 2) Set(&out_.model, family, {"module class " + layer}, kLikely);
      return;
    }
  }

  bool HasClass(std::initializer_list<std::string_view> parts) const {
    return std::any_of(classes_.begin(), classes_.end(), [&](const auto& entry) {
      return std::any_of(parts.begin(), parts.end(),
                         [&](std::string_view part) { return ContainsNoCase(entry.first, part); });
    });
  }

  double Time(Kind kind) const {
    const auto found = kinds_.find(kind);
    return found == kinds_.end() ? 0 : found->second;
  }

  void Architecture() {
    const bool attention = Time(Kind::kSdpa) > 0 || HasClass({"attention"}) ||
                           (softmax_ && Time(Kind::kGemm) > 0 && HasClass({"layer", "block"}));
    const bool convolution = Time(Kind::kConvolution) > 0;
    const bool experts = Time(Kind::kMoe) > 0 || HasClass({"moe", "expert"});
    std::vector<std::string> evidence;
    if (Time(Kind::kSdpa) > 0) evidence.emplace_back("attention ops");
    if (HasClass({"attention"})) evidence.emplace_back("attention modules");
    if (convolution) evidence.emplace_back("convolution ops");
    if (experts) evidence.emplace_back("expert ops or modules");
    if (attention) {
      std::string kind = HasClass({"decoderlayer", "causallm", "lmhead"}) ? "Transformer (decoder)"
                         : HasClass({"encoderlayer", "vit", "bert"})      ? "Transformer (encoder)"
                                                                          : "Transformer";
      if (experts) kind += " with mixture of experts";
      if (convolution && Time(Kind::kConvolution) > 0.2 * Time(Kind::kGemm))
        kind += " with convolutions";
      Set(&out_.architecture, kind, std::move(evidence), kSure);
    } else if (convolution && Time(Kind::kConvolution) >= Time(Kind::kGemm)) {
      Set(&out_.architecture, "CNN", std::move(evidence), HasClass({"conv"}) ? kSure : kLikely);
    } else if (experts) {
      Set(&out_.architecture, "Mixture of experts", std::move(evidence), kLikely);
    }
  }

  void Scale() {
    const auto [layer, layers] = LayerClass();
    if (layers < 2) return;
    std::string text = fmt::format("{} layers", layers);
    std::vector<std::string> evidence = {fmt::format("{} instances of {}", layers, layer)};
    const auto most =
        std::max_element(inner_.begin(), inner_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    // Widths are those of a transformer's products; convolutions have none.
    if (most != inner_.end() && most->first >= 64 && Time(Kind::kGemm) > Time(Kind::kConvolution)) {
      text += fmt::format(", width {}", static_cast<std::int64_t>(most->first));
      evidence.emplace_back("most frequent K of the matrix products");
      if (widest_ >= 8 * most->first && widest_ >= 10000) {
        text += fmt::format(", vocabulary {}", static_cast<std::int64_t>(widest_));
        evidence.emplace_back("largest N of the matrix products");
      }
    }
    Set(&out_.scale, std::move(text), std::move(evidence), kLikely);
  }

  void Precision() {
    double all = 0;
    for (const auto& [type, us] : types_)
      all += us;
    if (all <= 0) return;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [type, us] : types_)
      order.emplace_back(-us, type);
    std::sort(order.begin(), order.end());
    std::string text;
    std::vector<std::string> evidence;
    for (const auto& [us, type] : order) {
      if (-us < 0.05 * all) continue;
      std::string upper = type;
      for (char& c : upper)
        c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      text += (text.empty() ? "" : " + ") + upper;
      evidence.push_back(
          fmt::format("{:.0f} % of the time of matrix work in {}", -us / all * 100, type));
      if (type == "fp32") evidence.emplace_back("whether TF32 was used is not visible");
    }
    Set(&out_.precision, std::move(text), std::move(evidence), kSure);
  }

  void Workload() {
    if (optimizer_ || backward_) {
      out_.workload = "training";
    } else if (trace_.recorded().cpu_ops && trace_.recorded().gpu_work) {
      out_.workload = "inference";
    }
  }

  const session::LoadedTrace& trace_;
  const std::vector<CategoryAnalysis>& categories_;
  std::map<std::string, std::set<std::string>> classes_;  // module class: instances
  std::map<std::string, int> files_;                      // model family: frames
  std::map<Kind, double> kinds_;                          // time
  std::map<std::string, double> types_;                   // time of matrix work
  std::map<double, std::uint64_t> inner_;                 // K: calls
  double widest_ = 0;
  bool softmax_ = false, optimizer_ = false, backward_ = false;
  ModelIdentity out_;
};

}  // namespace

ModelIdentity IdentifyModel(const session::LoadedTrace& trace,
                            const std::vector<CategoryAnalysis>& categories) {
  return Identifier(trace, categories).Run();
}

}  // namespace jarvis::findings
