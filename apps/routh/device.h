#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "routh/io/device.h"

/// --device: what samples, the CPU or a GPU, an optional component of the program.
namespace routh::app {

void add_device(CLI::App& command, std::string& name);
/// Throws InputError where the program has no such component; says so where the device is not
/// there.
io::Device device_named(const std::string& name);
/// Says what became of it, once.
void warn_of_device(const std::string& name, const std::string& trouble);
bool has_cuda();

}  // namespace routh::app
