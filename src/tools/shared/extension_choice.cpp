#include "tools/shared/extension_choice.h"

#include <string>
#include <utility>

#include "io/text_file.h"
#include "session/extension.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kExtensionBytesMax = std::size_t{4} << 20;

struct ExtensionKey {
  using Value = Extension;
  std::string path;
  std::string text;
  session::Compat compat = session::Compat::kNone;
  bool operator==(const ExtensionKey&) const = default;
};

}  // namespace

Result<Extension> ChooseExtension(const io::FilePolicy& files, const Json& arguments,
                                  const session::LoadedTrace& trace, session::Compat compat,
                                  const Job& job) {
  ExtensionKey key{TextArgument(arguments, "extension").value_or(""), {}, compat};
  if (key.path.empty()) return Extension{};
  JV_ASSIGN(key.text, io::ReadTextFile(files, key.path, kExtensionBytesMax));
  using Made = session::DerivedCache::Made<Extension>;
  JV_ASSIGN(const auto made, trace.derived().Get(key, job, [&]() -> Result<Made> {
    auto read = std::make_shared<Extension>();
    JV_ASSIGN(read->models, session::ModelsWithExtension(key.path, key.text, key.compat));
    JV_ASSIGN(read->fixes, levers::ShippedWith(key.path, key.text));
    // The texts stand in the key and, in parts, in the rows; ours are not small either.
    constexpr std::size_t kOurRows = std::size_t{1} << 20;
    return Made{std::move(read), kOurRows + 2 * key.text.size()};
  }));
  return *made;
}

}  // namespace jarvis::tools
