#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// MuJoCo's model and data in C++ hands; inside this folder alone.
namespace routh::mujoco {

struct Additions;

struct DeleteModel {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DeleteData {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelPtr = std::unique_ptr<mjModel, DeleteModel>;
using DataPtr = std::unique_ptr<mjData, DeleteData>;

/// Throws std::invalid_argument with MuJoCo's message. `warning` receives what it says of a model
/// that it could read.
ModelPtr load_file(const std::string& path, const Additions& additions, std::string& warning);
ModelPtr load_text(std::string_view text, const std::string& name, const Additions& additions,
                   std::string& warning);

/// Throws std::runtime_error when memory is short.
DataPtr make_data(const mjModel& model);

std::string body_name(const mjModel& model, int body);
std::string joint_name(const mjModel& model, int joint);
std::string geom_name(const mjModel& model, int geom);
std::vector<std::string> coordinate_names(const mjModel& model);
std::vector<std::string> velocity_names(const mjModel& model);

/// What rigid contacts with Coulomb friction leave out of the model, one sentence each.
std::vector<std::string> departures(const mjModel& model);

}  // namespace routh::mujoco
