#include "routh/io/text.h"

#include <algorithm>

namespace routh::io {
namespace {

/// Bytes of the character that begins the text, 0 when none does.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::size_t length = byte(0) < 0x80            ? 1
                             : byte(0) >> 5 == 0b110   ? 2
                             : byte(0) >> 4 == 0b1110  ? 3
                             : byte(0) >> 3 == 0b11110 ? 4
                                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if (byte(k) >> 6 != 0b10) return 0;
  }
  // written longer than need be, halves of pairs, beyond the last
  const bool wrong = (length == 2 && byte(0) < 0xc2) ||
                     (length == 3 && byte(0) == 0xe0 && byte(1) < 0xa0) ||
                     (length == 3 && byte(0) == 0xed && byte(1) > 0x9f) ||
                     (length == 4 && byte(0) == 0xf0 && byte(1) < 0x90) ||
                     (length == 4 && (byte(0) > 0xf4 || (byte(0) == 0xf4 && byte(1) > 0x8f)));
  return wrong ? 0 : length;
}

}  // namespace

int index_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

std::string without_controls(std::string_view text) {
  std::string out(text);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto byte = static_cast<unsigned char>(out[k]);
    if (byte < 0x20 || byte == 0x7f) out[k] = ' ';
    // U+0080 to U+009F
    if (byte == 0xc2 && k + 1 < out.size() && static_cast<unsigned char>(out[k + 1]) < 0xa0)
      out[k] = out[k + 1] = ' ';
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0)
      out += '?';
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(without_controls(text))) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace routh::io
