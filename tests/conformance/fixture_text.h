// Pieces that the fixtures are made of.
#pragma once

#include <string>

#include "json/json.h"
#include "mcp/call_context.h"
#include "mcp/tool.h"

namespace jarvis {

// One red pixel.
inline constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJg"
    "gg==";
// No samples.
inline constexpr const char* kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

inline mcp::ToolReply TextReply(std::string text) {
  return {Json(), std::move(text)};
}

inline mcp::ToolReply Blocks(std::vector<Json> blocks) {
  mcp::ToolReply reply;
  reply.blocks = std::move(blocks);
  return reply;
}

inline Json TextBlock(const std::string& text) {
  return {{"type", "text"}, {"text", text}};
}

inline Json ImageBlock() {
  return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}};
}

inline Json ResourceBlock(const std::string& uri, const std::string& mime_type,
                          const std::string& text) {
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"text", text}}}};
}

// Questions for the client.
inline Json Form(const std::string& message, Json properties, Json required) {
  return {{"method", "elicitation/create"},
          {"params",
           {{"mode", "form"},
            {"message", message},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)}}}}}};
}

inline Json Sampling(const std::string& text, int tokens) {
  Json message = {{"role", "user"}, {"content", TextBlock(text)}};
  return {{"method", "sampling/createMessage"},
          {"params", {{"messages", Json::array({std::move(message)})}, {"maxTokens", tokens}}}};
}

inline Json ListRoots() {
  return {{"method", "roots/list"}, {"params", Json::object()}};
}

inline mcp::ToolReply AskFor(Json requests, Json state = {}) {
  mcp::ToolReply reply;
  reply.ask = mcp::InputNeeded{std::move(requests), std::move(state)};
  return reply;
}

// A member of an accepted form; empty: declined, or not there.
inline std::string Entered(const Json& inputs, const char* key, const char* field) {
  const Json answer = inputs.value(key, Json::object());
  const Json content = answer.value("content", Json());
  if (answer.value("action", "") != "accept" || !content.is_object()) return {};
  const Json value = content.value(field, Json());
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

// The text of a sampled message.
inline std::string Sampled(const Json& inputs, const char* key) {
  const Json answer = inputs.value(key, Json::object());
  const Json content = answer.value("content", Json());
  return content.is_object() ? content.value("text", "") : std::string();
}

}  // namespace jarvis
