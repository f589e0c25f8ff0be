#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "routh/io/json.h"

/// A user's words in the formats that we write ourselves; gnuplot_text() of gnuplot.h has its own.
namespace routh::io {

/// Position in a list of names, or -1.
int index_of(const std::vector<std::string>& names, std::string_view name);

/// On one line: control characters, which terminals obey and XML cannot hold, become spaces.
std::string without_controls(std::string_view text);

/// Bytes that are not UTF-8 become question marks.
std::string valid_utf8(std::string_view text);

/// A cell of a CSV file: in quotes where commas, quotes or line breaks are in it.
std::string csv_cell(std::string_view text);

/// Text and attributes of XML.
std::string xml_text(std::string_view text);

/// JSON as text; what is not UTF-8 is replaced.
std::string json_text(const Json& json, int indent = -1);

}  // namespace routh::io
