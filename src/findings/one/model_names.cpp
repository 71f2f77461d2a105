#include "findings/one/model_names.h"

#include "base/text.h"

namespace jarvis::findings {

// Number of convolutions of a forward pass: the residual network of that depth.
std::string_view ResNetOf(std::uint64_t convolutions) {
  switch (convolutions) {
    case 20: return "ResNet-18";
    case 36: return "ResNet-34";
    case 53: return "ResNet-50";
    case 104: return "ResNet-101";
    case 155: return "ResNet-152";
    default: return "";
  }
}

// The same of VGG, whose class does not say how deep it is.
std::string_view VggOf(std::uint64_t convolutions) {
  switch (convolutions) {
    case 8: return "VGG-11";
    case 10: return "VGG-13";
    case 13: return "VGG-16";
    case 16: return "VGG-19";
    default: return "";
  }
}

// What a model is called by those who publish it, where its class in a library does not say it.
std::string_view PublishedName(std::string_view module_class) {
  struct Row {
    std::string_view part, name;  // `part` in lower case
  };
  static constexpr Row kRows[] = {{"flux1transformer", "FLUX.1"},
                                  {"fluxtransformer", "FLUX.1"},
                                  {"flux2transformer", "FLUX.2"},
                                  {"sd3transformer", "Stable Diffusion 3"},
                                  {"unet2dcondition", "Stable Diffusion UNet"},
                                  {"hunyuanvideo", "HunyuanVideo"},
                                  {"wantransformer3d", "Wan"},
                                  {"cogvideox", "CogVideoX"},
                                  {"ltxvideotransformer", "LTX-Video"},
                                  {"mochitransformer", "Mochi"},
                                  {"pixarttransformer", "PixArt"},
                                  {"sanatransformer", "Sana"},
                                  {"samvisionencoder", "Segment Anything"},
                                  {"sam2", "SAM 2"}};
  for (const Row& row : kRows) {
    if (ContainsNoCase(module_class, row.part)) return row.name;
  }
  return "";
}

// The published sizes of vision transformers.
std::string_view VitOf(std::int64_t hidden, std::int64_t heads) {
  struct Row {
    std::int64_t hidden, heads;
    std::string_view name;
  };
  for (const Row& row :
       {Row{192, 3, "ViT-Ti"}, Row{384, 6, "ViT-S"}, Row{768, 12, "ViT-B"}, Row{1024, 16, "ViT-L"},
        Row{1280, 16, "ViT-H"}, Row{1408, 16, "ViT-g"}, Row{1664, 16, "ViT-G"}}) {
    if (row.hidden == hidden && row.heads == heads) return row.name;
  }
  return "";
}

}  // namespace jarvis::findings
