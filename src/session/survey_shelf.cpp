#include "session/survey_shelf.h"

#include <algorithm>

#include <fmt/format.h>

#include "session/loaded_trace.h"
#include "trace/import/trace_file.h"

namespace jarvis::session {

std::shared_ptr<const SurveyedFile> SurveyShelf::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.first == key; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return entries_.front().second;
}

Result<std::shared_ptr<const SurveyedFile>> SurveyShelf::Get(const io::InputFile& file,
                                                             const trace::ReadOptions& options,
                                                             Job& job) {
  const std::string key = fmt::format("{} {} {} {} {}", file.path, file.size, file.modified_ns,
                                      file.changed_ns, file.inode);
  if (auto known = Find(key)) return known;
  auto made = [&]() -> Result<SurveyedFile> {
    JV_ASSIGN(io::InputFile again, io::AnotherOf(file));
    JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(again), job));
    JV_ASSIGN(trace::Survey survey, opened.TakeSurvey(options, job));
    return SurveyedFile{&opened.importer(), std::move(survey)};
  }();
  if (!made) return tl::make_unexpected(LoadError(std::move(made.error()), file.given));
  auto survey = std::make_shared<const SurveyedFile>(std::move(*made));
  const std::lock_guard lock(mutex_);
  entries_.emplace_front(key, survey);
  if (entries_.size() > kKeptMax) entries_.pop_back();
  return survey;
}

}  // namespace jarvis::session
