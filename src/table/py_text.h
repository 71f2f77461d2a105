// Values as Python prints them: what the CSV tables of this field hold, and what their readers
// parse.
#pragma once

#include <string>
#include <string_view>

namespace jarvis {

// repr(float): the shortest text that reads back the same, "1.0", "1e-09", "nan".
std::string PyFloat(double value);
void AppendPyFloat(double value, std::string* out);

// repr(str): single quotes unless the text holds one and no double quote.
std::string PyString(std::string_view text);
void AppendPyString(std::string_view text, std::string* out);

}  // namespace jarvis
