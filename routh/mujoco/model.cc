#include "routh/mujoco/model.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "routh/mujoco/dialect.h"
#include "routh/mujoco/source.h"

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

// What MuJoCo read last, as MJCF.
std::string as_mjcf(const mjModel& model) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  if (!file) throw std::runtime_error("no temporary file can be made");
  char message[1000] = "";
  const std::string path = "/proc/self/fd/" + std::to_string(fileno(file.get()));
  if (!mj_saveLastXML(path.c_str(), &model, message, sizeof message))
    throw std::runtime_error(std::string("MuJoCo: ") + message);
  std::rewind(file.get());
  std::string text;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file.get())) > 0;)
    text.append(part, n);
  return text;
}

ModelPtr load(const std::string& file, const std::string& name, const mjVFS* files,
              std::string& warning, std::string* mjcf = nullptr) {
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
  if (mjcf) *mjcf = as_mjcf(*model);
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

namespace {

ModelPtr load_memory(std::string_view text, const std::string& name, std::string& warning,
                     std::string* mjcf = nullptr) {
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
  return load(short_name, name, files.get(), warning, mjcf);
}

bool has_static_plane(const mjModel& model) {
  for (int g = 0; g < model.ngeom; ++g) {
    if (model.geom_type[g] == mjGEOM_PLANE && model.body_weldid[model.geom_bodyid[g]] == 0)
      return true;
  }
  return false;
}

// MJCF in one text, its files in `folder`.
ModelPtr load_mjcf(const std::string& text, const std::string& folder, const std::string& name,
                   const Additions& additions, std::string& warning) {
  if (!additions.any()) return load_memory(prepared_mjcf(text, folder, {}), name, warning);
  const ModelPtr plain = load_memory(prepared_mjcf(text, folder, {}), name, warning);
  if (additions.floor && has_static_plane(*plain))
    throw std::invalid_argument(name + ": the model has a floor already; leave --floor out");
  if (additions.floating && plain->njnt > 0 &&
      std::find(plain->jnt_type, plain->jnt_type + plain->njnt, mjJNT_FREE) !=
          plain->jnt_type + plain->njnt)
    throw std::invalid_argument(name + ": the model has a free joint already; leave --float out");
  std::string added;
  try {
    added = prepared_mjcf(text, folder, additions);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(name + ": --float: " + error.what());
  }
  if (additions.floating) {
    // the first body is the root
    mjtNum place[7];
    std::copy_n(plain->body_pos + 3, 3, place);
    std::copy_n(plain->body_quat + 4, 4, place + 3);
    added = with_keyframes_of_free_root(std::move(added), place);
  }
  return load_memory(added, name, warning);
}

ModelPtr load_urdf(const std::string& text, const std::string& folder, const std::string& name,
                   const Additions& additions, std::string& warning) {
  std::string prepared;
  try {
    prepared = prepared_urdf(text, folder, additions);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(name + ": " + error.what());
  }
  if (!additions.floor) return load_memory(prepared, name, warning);
  // URDF knows no planes
  std::string mjcf;
  load_memory(prepared, name, warning, &mjcf);
  return load_mjcf(mjcf, folder, name, {.floor = true}, warning);
}

}  // namespace

ModelPtr load_file(const std::string& path, const Additions& additions, std::string& warning) {
  if (!std::filesystem::is_regular_file(path))
    throw std::invalid_argument(path + ": no such file; give an MJCF or URDF file");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::optional<std::string> text = with_includes(path);
  if (text && is_urdf(*text)) return load_urdf(*text, folder, path, additions, warning);
  if (text && additions.any()) return load_mjcf(*text, folder, path, additions, warning);
  if (text && has_pictures(*text)) {
    // what fails is told better of the file itself
    try {
      return load_mjcf(*text, folder, path, additions, warning);
    } catch (const std::invalid_argument&) {
    }
  }
  ModelPtr model = load(path, path, nullptr, warning);
  if (additions.any())
    throw std::invalid_argument(path +
                                ": nothing can be added to a model whose files are not found");
  return model;
}

ModelPtr load_text(std::string_view text, const std::string& name, const Additions& additions,
                   std::string& warning) {
  if (text.empty()) throw std::invalid_argument(name + ": the text of the model is empty");
  if (is_urdf(text)) return load_urdf(std::string(text), "", name, additions, warning);
  if (additions.any()) return load_mjcf(std::string(text), "", name, additions, warning);
  return load_memory(text, name, warning);
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

namespace {

// The largest of some numbers, as the user wrote it.
std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

// What is left out of contacts with torsional or rolling friction, which is friction times length.
std::string lost_friction(const mjModel& model) {
  double torsional = 0, rolling = 0;
  const auto look = [&](int dim, mjtNum about_normal, mjtNum along) {
    if (dim > 3) torsional = std::max(torsional, about_normal);
    if (dim > 4) rolling = std::max(rolling, along);
  };
  for (int g = 0; g < model.ngeom; ++g) {
    if (model.geom_contype[g] || model.geom_conaffinity[g])
      look(model.geom_condim[g], model.geom_friction[3 * g + 1], model.geom_friction[3 * g + 2]);
  }
  for (int p = 0; p < model.npair; ++p) {
    const mjtNum* friction = model.pair_friction + 5 * p;
    look(model.pair_dim[p], friction[2], std::max(friction[3], friction[4]));
  }
  if (torsional <= 0 && rolling <= 0) return "";
  std::string text = "Torsional";
  text += rolling > 0 ? " and rolling friction" : " friction";
  text += " (condim 4, 6) is left out: at most " + number(torsional) + " m";
  if (rolling > 0) text += " and " + number(rolling) + " m";
  return text + " times the normal force.";
}

}  // namespace

std::vector<std::string> departures(const mjModel& model) {
  std::vector<std::string> notes;
  const auto any = [](const auto* values, int count, auto holds) {
    return std::any_of(values, values + count, holds);
  };
  const auto most = [](const mjtNum* values, int count) {
    return count > 0 ? *std::max_element(values, values + count) : 0;
  };
  const auto limits = [](mjtByte x) { return x != 0; };

  // soft, here rigid
  std::string soft;
  const auto add = [&](bool is_there, const char* what) {
    if (is_there) soft += (soft.empty() ? "" : ", ") + std::string(what);
  };
  add(model.nv > 0 && model.ngeom > 0, "contacts");
  add(any(model.jnt_limited, model.njnt, limits), "limits of joints");
  add(any(model.tendon_limited, model.ntendon, limits), "limits of tendons");
  add(model.neq > 0, "equality constraints");
  if (!soft.empty())
    notes.push_back("Soft in MuJoCo and rigid here (solref, solimp): " + soft + ".");

  // friction
  std::vector<int> dims(model.geom_condim, model.geom_condim + model.ngeom);
  dims.insert(dims.end(), model.pair_dim, model.pair_dim + model.npair);
  if (model.opt.cone == mjCONE_PYRAMIDAL && model.nv > 0 &&
      any(dims.data(), static_cast<int>(dims.size()), [](int dim) { return dim > 1; }))
    notes.push_back("The friction cone is round (in the model a pyramid).");
  if (const std::string lost = lost_friction(model); !lost.empty()) notes.push_back(lost);
  for (int p = 0; p < model.npair; ++p) {
    const mjtNum* friction = model.pair_friction + 5 * p;
    if (model.pair_dim[p] >= 3 && friction[0] != friction[1]) {
      notes.push_back(
          "Friction that depends on the direction is taken as isotropic, with the smaller "
          "coefficient.");
      break;
    }
  }
  const double dry = most(model.dof_frictionloss, model.nv),
               of_tendons = most(model.tendon_frictionloss, model.ntendon);
  if (dry > 0 || of_tendons > 0)
    notes.push_back("Dry friction of joints and tendons (frictionloss, up to " +
                    number(std::max(dry, of_tendons)) + ") is left out.");

  // shapes
  const auto iterated = [&](int geom) {
    const int type = model.geom_type[geom];
    return (model.geom_contype[geom] || model.geom_conaffinity[geom]) &&
           (type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER || type == mjGEOM_MESH);
  };
  std::vector<int> geoms(model.ngeom);
  std::iota(geoms.begin(), geoms.end(), 0);
  if (std::any_of(geoms.begin(), geoms.end(), iterated))
    notes.push_back(
        "Ellipsoids, cylinders and meshes touch at one point each, planes at up to three.");
  if (has_flexes(model)) notes.push_back("Contacts of deformable bodies (flex) are left out.");

  if (model.na > 0)
    notes.push_back("Inner states of actuators (activations) keep their value of the start.");
  return notes;
}

}  // namespace routh::mujoco
