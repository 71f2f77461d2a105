#include "trace/secrets.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::trace {
namespace {

TEST_CASE("secrets in metadata: keys are told, values never") {
  const auto of = [](std::string key, std::string json) {
    return FindSecrets(ReadMetadata({{std::move(key), std::move(json)}}));
  };
  const Secrets environment =
      of("metadata", R"({"system":{"env":{"PATH":"/bin","HOME":"/root","HOSTNAME":"n1",)"
                     R"("HF_TOKEN":"abcdefghijkl","TOKENIZERS_PARALLELISM":"false",)"
                     R"("GITHUB_SECRET":"","MY_PASSWORD":"******"}}})");
  CHECK(environment.environment == 7);
  CHECK(environment.keys == std::vector<std::string>{"HF_TOKEN"});
  CHECK(of("a", R"(["WANDB_API_KEY=0123456789abcdefg","LANG=C"])").keys ==
        std::vector<std::string>{"WANDB_API_KEY"});
  CHECK(of("note", R"("hf_abcdefghijklmnopqrstuvwx")").keys == std::vector<std::string>{"note"});
  // Nearly: sizes and counts of tokens, a vocabulary, few variables.
  CHECK_FALSE(of("config", R"({"max_tokens":"123456789","eos_token":"<|end|>","num_tokens":4096,)"
                           R"("tokenizer":"llama-tokenizer","HOME":"/root"})")
                  .any());
}

}  // namespace
}  // namespace jarvis::trace
