#include "app/script_flags.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::app {
namespace {

std::string_view WithoutEnd(std::string_view path, std::string_view end) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  if (path.ends_with(end)) path.remove_suffix(end.size());
  return path;
}

struct SplitPath {
  std::string folder;  // "." where none is given
  std::string name;
};
SplitPath Split(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(path)};
  return {std::string(path.substr(0, std::max<std::size_t>(slash, 1))),
          std::string(path.substr(slash + 1))};
}

// "top5_gemm_kernels_time_variance.csv" -> "5"; empty: another name.
std::string TopOf(std::string_view name) {
  if (!name.starts_with("top")) return {};
  const std::string_view number = name.substr(3, name.find('_') - 3);
  return ParseInt(number).value_or(0) > 0 ? std::string(number) : std::string();
}

class PipelineFlags {
 public:
  std::vector<std::string> Translate(Arguments arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string_view one = arguments[i];
      if (one == "--threads" || one == "--channels") {
        std::vector<std::string>& list = one == "--threads" ? threads_ : channels_;
        while (i + 1 < arguments.size() && !arguments[i + 1].starts_with('-'))
          list.emplace_back(arguments[++i]);
        continue;
      }
      top_given_ = top_given_ || one == "--top-k" || one == "--top_k";
      if (i + 1 == arguments.size() || !Take(one, arguments[i + 1])) {
        out_.emplace_back(one);
      } else {
        ++i;
      }
    }
    AddSweep();
    AddConfigurations();
    return std::move(out_);
  }

 private:
  // A flag with its value; false: not one of a script.
  bool Take(std::string_view flag, std::string_view value) {
    if (flag == "--base-path" || flag == "--base_path" || flag == "--tracelens-path") {
      folder_ = WithoutEnd(value, "/tracelens_analysis");
    } else if (flag == "--csv-path" || flag == "--input-csv") {
      table_ = value;
      plots_ = flag == "--csv-path";
    } else if (flag == "--output-dir" && WithoutEnd(value, "/plots") != WithoutEnd(value, "")) {
      output_in_plots_ = value;
    } else {
      return false;
    }
    return true;
  }

  void AddSweep() {
    const SplitPath table = Split(table_);
    if (folder_.empty() && !table_.empty())
      folder_ = WithoutEnd(table.folder, "/tracelens_analysis");
    if (!folder_.empty()) {
      out_.emplace_back("--sweep-dir");
      out_.push_back(folder_);
    }
    if (const std::string top = TopOf(table.name); !top.empty() && !top_given_) {
      out_.emplace_back("--top-k");
      out_.push_back(top);
    }
    if (plots_) out_.emplace_back("--png");
    if (!output_in_plots_.empty()) {
      out_.emplace_back("--output-dir");
      out_.emplace_back(plots_ ? WithoutEnd(output_in_plots_, "/plots") : output_in_plots_);
    }
  }

  // A configuration has both; one alone is refused as a flag that there is not.
  void AddConfigurations() {
    if (threads_.empty() != channels_.empty())
      out_.emplace_back(threads_.empty() ? "--channels" : "--threads");
    for (const std::string& threads : threads_) {
      for (const std::string& channels : channels_) {
        out_.emplace_back("--configs");
        out_.push_back(fmt::format("{}thread_{}ch", threads, channels));
      }
    }
  }

  std::vector<std::string> out_;
  std::vector<std::string> threads_, channels_;
  std::string folder_;
  std::string table_;
  std::string output_in_plots_;  // --output-dir .../plots: the tool makes that folder itself
  bool plots_ = false;
  bool top_given_ = false;
};

// "--sweep1" is another "--sweeps".
bool IsNumbered(std::string_view flag, std::string_view name) {
  return flag.size() == name.size() + 1 && flag.starts_with(name) && flag.back() >= '1' &&
         flag.back() <= '8';
}

// A file where the tool takes a directory and a name.
void AddFile(std::string_view path, std::vector<std::string>* out) {
  const SplitPath file = Split(path);
  for (const std::string& one :
       {std::string("--output-dir"), file.folder, std::string("--file-name"), file.name})
    out->push_back(one);
}

}  // namespace

std::vector<std::string> FromScriptFlags(std::string_view tool, Arguments arguments) {
  if (tool == "sweep_pipeline") return PipelineFlags().Translate(arguments);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view one = arguments[i];
    const bool more = i + 1 < arguments.size();
    if (tool == "sweep_compare" && more && one == "--output") {
      AddFile(arguments[++i], &out);
    } else if (tool == "rocprof_yaml" && more && one == "--output-yaml") {
      AddFile(arguments[++i], &out);
    } else if (tool == "sweep_compare" && (one == "--sweep-dir" || IsNumbered(one, "--sweep"))) {
      out.emplace_back("--sweeps");
    } else if (tool == "sweep_compare" && IsNumbered(one, "--label")) {
      out.emplace_back("--labels");
    } else if (tool == "rocprof_yaml" && one == "--input-csv") {
      out.emplace_back("--csv");
    } else {
      out.emplace_back(one);
    }
  }
  return out;
}

}  // namespace jarvis::app
