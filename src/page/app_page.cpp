#include "page/app_page.h"

#include "output/html_page.h"
#include "page/page_files.h"

namespace jarvis::page {

std::string RenderAppPage() {
  return output::RenderShell({"JARVIS", BrowserText({"parts_style", "app_style"}),
                              BrowserText({"app_bridge", "app_view"}), ""});
}

}  // namespace jarvis::page
