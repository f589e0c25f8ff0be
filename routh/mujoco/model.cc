#include "routh/mujoco/model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "routh/mujoco/dialect.h"

namespace routh::mujoco {
namespace {

// By default MuJoCo prints warnings and ends the process at errors; a program's own handlers stay.
void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!mju_user_warning) mju_user_warning = [](const char*) {};
    if (!mju_user_error)
      mju_user_error = [](const char* message) {
        throw std::runtime_error(std::string("MuJoCo: ") + message);
      };
  });
}

// Words that this version does not know, a newer one may.
std::string hint(const std::string& said) {
  const bool unknown = said.find("Schema violation") != std::string::npos ||
                       said.find("invalid keyword") != said.npos;
  return unknown ? "; a newer MuJoCo may know it: build with cmake -DMUJOCO_DIR=<its folder>" : "";
}

ModelPtr load(const std::string& file, const std::string& name, const mjVFS* files,
              std::string& warning) {
  install_handlers();
  static std::mutex reading;  // MuJoCo keeps the last file it read in a global
  const std::lock_guard lock(reading);
  char message[1000] = "";
  ModelPtr model(mj_loadXML(file.c_str(), files, message, sizeof message));
  // its lines in one
  std::string said;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \r") + 1);
    if (!line.empty()) said += (said.empty() ? "" : "; ") + line;
  }
  if (!model)
    throw std::invalid_argument(name + ": MuJoCo " + mj_versionString() +
                                " cannot read the model: " + said + hint(said));
  warning = said;
  return model;
}

std::string name_or(const mjModel& model, mjtObj type, int id, const std::string& otherwise) {
  const char* name = mj_id2name(&model, type, id);
  return name && *name ? name : otherwise;
}

// "leg.capsule", or "leg.capsule2" when it is the second of its kind on the body
std::string kind_name(const mjModel& model, int body, const char* kind, int nth, int count) {
  std::string name = body_name(model, body) + "." + kind;
  return count > 1 ? name + std::to_string(nth) : name;
}

}  // namespace

ModelPtr load_file(const std::string& path, std::string& warning) {
  if (!std::filesystem::is_regular_file(path))
    throw std::invalid_argument(path + ": no such file; give an MJCF or URDF file");
  return load(path, path, nullptr, warning);
}

ModelPtr load_text(std::string_view text, const std::string& name, std::string& warning) {
  if (text.empty()) throw std::invalid_argument(name + ": the text of the model is empty");
  // MuJoCo keeps files in memory by short names without folders
  std::string short_name = std::filesystem::path(name).filename().string();
  if (short_name.empty() || short_name.size() > 80) short_name = "model.xml";
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
#if mjVERSION_HEADER >= 300
  mj_addBufferVFS(files.get(), short_name.c_str(), text.data(), static_cast<int>(text.size()));
#else
  mj_makeEmptyFileVFS(files.get(), short_name.c_str(), static_cast<int>(text.size()));
  const int at = mj_findFileVFS(files.get(), short_name.c_str());
  if (at >= 0) std::memcpy(files->filedata[at], text.data(), text.size());
#endif
  const std::unique_ptr<mjVFS, decltype(&mj_deleteVFS)> release(files.get(), &mj_deleteVFS);
  return load(short_name, name, files.get(), warning);
}

DataPtr make_data(const mjModel& model) {
  DataPtr data(mj_makeData(&model));
  if (!data) throw std::runtime_error("MuJoCo: not enough memory for the model's data");
  return data;
}

std::string body_name(const mjModel& model, int body) {
  return name_or(model, mjOBJ_BODY, body, "body" + std::to_string(body));
}

std::string joint_name(const mjModel& model, int joint) {
  static constexpr const char* kKinds[] = {"free", "ball", "slide", "hinge"};
  const int body = model.jnt_bodyid[joint], type = model.jnt_type[joint];
  int nth = 0, count = 0;
  for (int i = 0; i < model.body_jntnum[body]; ++i) {
    const int other = model.body_jntadr[body] + i;
    if (model.jnt_type[other] != type) continue;
    ++count;
    if (other == joint) nth = count;
  }
  return name_or(model, mjOBJ_JOINT, joint, kind_name(model, body, kKinds[type], nth, count));
}

std::string geom_name(const mjModel& model, int geom) {
  const int body = model.geom_bodyid[geom], type = model.geom_type[geom];
  int nth = 0, count = 0;
  for (int i = 0; i < model.body_geomnum[body]; ++i) {
    const int other = model.body_geomadr[body] + i;
    if (model.geom_type[other] != type) continue;
    ++count;
    if (other == geom) nth = count;
  }
  static constexpr const char* kKinds[] = {"plane",     "hfield",   "sphere", "capsule",
                                           "ellipsoid", "cylinder", "box",    "mesh"};
  const char* kind = type < 8 ? kKinds[type] : "geom";
  const std::string otherwise = body > 0 && model.body_geomnum[body] == 1
                                    ? body_name(model, body)
                                    : kind_name(model, body, kind, nth, count);
  return name_or(model, mjOBJ_GEOM, geom, otherwise);
}

namespace {

std::vector<std::string> joint_parts(const mjModel& model, const std::vector<std::string>& free,
                                     const std::vector<std::string>& ball) {
  std::vector<std::string> names;
  for (int j = 0; j < model.njnt; ++j) {
    const std::string name = joint_name(model, j);
    switch (model.jnt_type[j]) {
      case mjJNT_FREE:
        for (const std::string& part : free)
          names.push_back(body_name(model, model.jnt_bodyid[j]) + part);
        break;
      case mjJNT_BALL:
        for (const std::string& part : ball) names.push_back(name + part);
        break;
      default:
        names.push_back(name);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> coordinate_names(const mjModel& model) {
  return joint_parts(model, {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"},
                     {".qw", ".qx", ".qy", ".qz"});
}

std::vector<std::string> velocity_names(const mjModel& model) {
  return joint_parts(model, {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"}, {".wx", ".wy", ".wz"});
}

std::vector<std::string> departures(const mjModel& model) {
  std::vector<std::string> notes;
  const auto any = [](const auto* values, int count, auto holds) {
    return std::any_of(values, values + count, holds);
  };
  const auto positive = [](mjtNum x) { return x > 0; };

  // contacts
  if (model.nv > 0 && model.ngeom > 0)
    notes.push_back(
        "Soft contacts (solref, solimp, margin) are taken as rigid ones without restitution.");
  std::vector<int> dims(model.geom_condim, model.geom_condim + model.ngeom);
  dims.insert(dims.end(), model.pair_dim, model.pair_dim + model.npair);
  if (any(dims.data(), static_cast<int>(dims.size()), [](int dim) { return dim > 3; }))
    notes.push_back(
        "Torsional and rolling friction (condim 4 and 6) are lost; the tangential coefficient "
        "stays.");
  for (int p = 0; p < model.npair; ++p) {
    const mjtNum* friction = model.pair_friction + 5 * p;
    if (model.pair_dim[p] >= 3 && friction[0] != friction[1]) {
      notes.push_back(
          "Friction that depends on the direction is taken as isotropic, with the smaller "
          "coefficient.");
      break;
    }
  }
  const auto iterated = [&](int geom) {
    const int type = model.geom_type[geom];
    return (model.geom_contype[geom] || model.geom_conaffinity[geom]) &&
           (type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER || type == mjGEOM_MESH);
  };
  std::vector<int> geoms(model.ngeom);
  std::iota(geoms.begin(), geoms.end(), 0);
  if (std::any_of(geoms.begin(), geoms.end(), iterated))
    notes.push_back(
        "Ellipsoids, cylinders and meshes touch other shapes than planes at one point each, unless "
        "the model enables MuJoCo's multiccd; meshes touch planes at three vertices at most.");

  if (has_flexes(model)) notes.push_back("Contacts of deformable bodies (flex) are left out.");

  // joints
  if (any(model.jnt_limited, model.njnt, [](mjtByte x) { return x != 0; }) ||
      any(model.tendon_limited, model.ntendon, [](mjtByte x) { return x != 0; }))
    notes.push_back("Soft limits of joints and tendons are taken as rigid ones without friction.");
  if (model.neq > 0) notes.push_back("Soft equality constraints are taken as rigid ones.");
  if (any(model.dof_frictionloss, model.nv, positive) ||
      any(model.tendon_frictionloss, model.ntendon, positive))
    notes.push_back("Dry friction of joints and tendons (frictionloss) is left out.");

  if (model.na > 0)
    notes.push_back("Inner states of actuators (activations) keep their value of the start.");
  return notes;
}

}  // namespace routh::mujoco
