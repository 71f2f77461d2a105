#include "tools/compare/pair_page_file.h"

#include "documents/comparative_facts.h"
#include "documents/comparative_fair.h"
#include "io/output_folder.h"
#include "page/page_files.h"
#include "page/pair_page.h"

namespace jarvis::tools {

Result<std::string> WritePairPage(const io::FilePolicy& files, const std::string& directory,
                                  const documents::ComparativeSide& candidate,
                                  const documents::ComparativeSide& baseline, bool overwrite,
                                  Job& job) {
  JV_ASSIGN(const documents::ComparativeFacts facts,
            documents::CollectFacts(candidate, baseline, job));
  JV_ASSIGN(const std::string text,
            page::RenderPairPage(documents::FairReport(facts),
                                 {"candidate", candidate.side.trace, *facts.pair.primary},
                                 {"baseline", baseline.side.trace, *facts.pair.comparison}, job));
  const std::string name(page::kPairPageFile);
  JV_ASSIGN(const std::string place, files.ResolveOutput(directory));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, place, job));
  JV_TRY(folder->Claim({name}, overwrite));
  JV_ASSIGN(std::string path, folder->Write(name, text));
  JV_TRY(folder->Commit());
  return path;
}

}  // namespace jarvis::tools
