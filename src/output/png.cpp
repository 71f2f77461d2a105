#include "output/png.h"

#include <cmath>
#include <memory>
#include <new>

#include <dlfcn.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

// For builds with sanitizers, which do not see into the libraries: fonts that are found once and
// kept (100 kB, however many pictures are drawn), and the thread of pango's that finds them.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libpango\nleak:librsvg\n";
}
#elif defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:libfontconfig\nrace:libpango\nrace:libglib\nrace:librsvg\n";
}
#endif

namespace jarvis::output {
namespace {

// What we call of librsvg and of the libraries it brings along. Never unloaded: they keep threads'
// data and fonts.
struct Library {
  decltype(&rsvg_handle_new_from_data) read = nullptr;
  decltype(&rsvg_handle_get_intrinsic_size_in_pixels) size = nullptr;
  decltype(&rsvg_handle_render_document) render = nullptr;
  decltype(&g_object_unref) unref = nullptr;
  decltype(&g_error_free) free_error = nullptr;
  decltype(&cairo_image_surface_create) new_surface = nullptr;
  decltype(&cairo_surface_status) status = nullptr;
  decltype(&cairo_surface_write_to_png_stream) write = nullptr;
  decltype(&cairo_surface_destroy) destroy_surface = nullptr;
  decltype(&cairo_create) new_context = nullptr;
  decltype(&cairo_destroy) destroy_context = nullptr;
  std::string missing;  // what could not be found
};

Library Load() {
  Library library;
  void* const loaded = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    library.missing = "librsvg-2.so.2";
    return library;
  }
  const auto find = [&](auto& function, const char* name) {
    void* const symbol = dlsym(loaded, name);
    if (symbol == nullptr) library.missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(library.read, "rsvg_handle_new_from_data");
  find(library.size, "rsvg_handle_get_intrinsic_size_in_pixels");
  find(library.render, "rsvg_handle_render_document");
  find(library.unref, "g_object_unref");
  find(library.free_error, "g_error_free");
  find(library.new_surface, "cairo_image_surface_create");
  find(library.status, "cairo_surface_status");
  find(library.write, "cairo_surface_write_to_png_stream");
  find(library.destroy_surface, "cairo_surface_destroy");
  find(library.new_context, "cairo_create");
  find(library.destroy_context, "cairo_destroy");
  return library;
}

const Library& TheLibrary() {
  static const Library library = Load();
  return library;
}

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

// No exception may cross the C code that calls it.
cairo_status_t AppendPng(void* to, const unsigned char* data, unsigned int size) {
  try {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

tl::unexpected<Error> NotDrawn(const Library& library, GError* error) {
  const std::string why = error != nullptr ? error->message : "unknown reason";
  if (error != nullptr) library.free_error(error);
  return Fail(ErrorCode::kBadValue, "the picture could not be drawn: " + why);
}

}  // namespace

Result<std::string> RenderPng(std::string_view svg, double scale) {
  const Library& library = TheLibrary();
  if (!library.missing.empty()) {
    return Fail(
        ErrorCode::kIo,
        fmt::format("PNG needs librsvg, and {} is not on this machine", library.missing),
        "install the package librsvg2-2 (Debian, Ubuntu; librsvg2 elsewhere), or ask for SVG");
  }
  GError* error = nullptr;
  const Owned<RsvgHandle> handle(
      library.read(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error),
      [](RsvgHandle* owned) { TheLibrary().unref(owned); });
  if (handle == nullptr) return NotDrawn(library, error);
  double width = 0;
  double height = 0;
  if (library.size(handle.get(), &width, &height) == 0) {
    return Fail(ErrorCode::kBadValue, "the picture has no size in pixels");
  }
  width = std::ceil(width * scale);
  height = std::ceil(height * scale);
  constexpr double kLongest = 32767;  // cairo's own limit
  if (!(width >= 1) || !(height >= 1)) {
    return Fail(ErrorCode::kBadValue, "the picture would have no pixels");
  }
  if (width > kLongest || height > kLongest || width * height > kPngPixelsMax) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("{:.0f} x {:.0f} pixels are more than {:.0f} million", width, height,
                            kPngPixelsMax / 1e6));
  }
  const Owned<cairo_surface_t> surface(
      library.new_surface(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)),
      [](cairo_surface_t* owned) { TheLibrary().destroy_surface(owned); });
  if (library.status(surface.get()) != CAIRO_STATUS_SUCCESS) {
    return Fail(ErrorCode::kOutOfMemory, "no memory for a picture of that size");
  }
  const Owned<cairo_t> context(library.new_context(surface.get()),
                               [](cairo_t* owned) { TheLibrary().destroy_context(owned); });
  const RsvgRectangle all{0, 0, width, height};
  if (library.render(handle.get(), context.get(), &all, &error) == 0) {
    return NotDrawn(library, error);
  }
  std::string png;
  if (library.write(surface.get(), &AppendPng, &png) != CAIRO_STATUS_SUCCESS) {
    return Fail(ErrorCode::kOutOfMemory, "no memory for the picture's file");
  }
  return png;
}

}  // namespace jarvis::output
