#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "routh/io/document.h"
#include "routh/io/file_writer.h"
#include "routh/io/files.h"
#include "routh/io/table.h"

namespace routh::io {
namespace {

constexpr double kChunk = 16384;  // rows that lie together on the disk

/// Something of HDF5 that is to be closed.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*ends)(hid_t)) : id_(id), close_(ends) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { (void)close(); }
  /// Of a file that is given up: closing it would write what cannot be written.
  void abandon() { id_ = H5I_INVALID_HID; }
  bool close() { return id_ < 0 || close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

Handle word_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

class Hdf5Writer : public TableWriter {
 public:
  Hdf5Writer(const std::string& path, double rows)
      : path_(path),
        place_(path),
        chunk_(static_cast<hsize_t>(std::clamp(rows, 1.0, kChunk))),
        words_(word_type()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // we say what went wrong
    errno = 0;
    // over the temporary that waits there
    file_ = {H5Fcreate(place_.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
             H5Fclose};
    must(file_ >= 0);
  }

  ~Hdf5Writer() override {
    if (done_) return;
    for (Handle& column : columns_) column.abandon();
    file_.abandon();
  }

  void add(const Table& rows) override {
    errno = 0;
    if (columns_.empty()) begin(rows);
    const hsize_t more = row_count(rows);
    if (more == 0) return;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const hsize_t all = rows_ + more;
      must(H5Dset_extent(columns_[k], &all) >= 0);
      const Handle where(H5Dget_space(columns_[k]), H5Sclose);
      must(H5Sselect_hyperslab(where, H5S_SELECT_SET, &rows_, nullptr, &more, nullptr) >= 0);
      const Handle memory(H5Screate_simple(1, &more, nullptr), H5Sclose);
      const auto write = [&](hid_t type, const void* data) {
        must(H5Dwrite(columns_[k], type, memory, where, H5P_DEFAULT, data) >= 0);
      };
      const auto& column = rows[k].rows;
      if (const auto* numbers = std::get_if<Numbers>(&column)) {
        write(H5T_NATIVE_DOUBLE, numbers->data());
      } else if (const auto* counts = std::get_if<Counts>(&column)) {
        write(H5T_NATIVE_INT64, counts->data());
      } else if (const auto* codes = std::get_if<Codes>(&column)) {
        write(H5T_NATIVE_UINT8, codes->values.data());
      } else {
        write(words_, pointers(std::get<Words>(column)).data());
      }
    }
    rows_ += more;
  }

  void finish(bool complete) override {
    errno = 0;
    const unsigned char whole = complete;
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    {
      const Handle said(
          H5Acreate2(file_, "complete", H5T_STD_U8LE, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
      must(said >= 0 && H5Awrite(said, H5T_NATIVE_UINT8, &whole) >= 0);
    }
    for (Handle& column : columns_) must(column.close());
    must(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0);
    must(file_.close());
    done_ = true;
    place_.finish();
  }

 private:
  void must(bool went_well) const {
    if (went_well) return;
    throw OutputError(fmt::format("cannot write '{}': {}", path_,
                                  errno ? std::strerror(errno) : "HDF5 cannot store it"));
  }

  static std::vector<const char*> pointers(const std::vector<std::string>& words) {
    std::vector<const char*> all;
    for (const std::string& word : words) all.push_back(word.c_str());
    return all;
  }

  void say(hid_t of, const char* name, const std::vector<std::string>& words) {
    const hsize_t count = words.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle said(H5Acreate2(of, name, words_, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    must(said >= 0 && H5Awrite(said, words_, pointers(words).data()) >= 0);
  }

  void begin(const Table& head) {
    const Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(plan, 1, &chunk_);
    const hsize_t none = 0, any = H5S_UNLIMITED;
    const Handle space(H5Screate_simple(1, &none, &any), H5Sclose);
    std::vector<std::string> names;
    for (const Column& column : head) {
      // a slash would be a folder
      std::string& name = names.emplace_back(column.name);
      std::replace(name.begin(), name.end(), '/', '_');
      const auto* codes = std::get_if<Codes>(&column.rows);
      const hid_t type = std::holds_alternative<Numbers>(column.rows)  ? H5T_IEEE_F64LE
                         : std::holds_alternative<Counts>(column.rows) ? H5T_STD_I64LE
                         : codes                                       ? H5T_STD_U8LE
                                                                       : static_cast<hid_t>(words_);
      columns_.emplace_back(
          H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, plan, H5P_DEFAULT), H5Dclose);
      must(columns_.back() >= 0);
      if (codes) say(columns_.back(), "labels", codes->labels);
    }
    say(file_, "columns", names);
  }

  std::string path_;
  FileWriter place_;
  hsize_t chunk_, rows_ = 0;
  Handle words_, file_;
  std::vector<Handle> columns_;
  bool done_ = false;
};

}  // namespace

bool has_hdf5() { return true; }

void check_hdf5(const std::string& path) {
  if (path == "-") throw InputError("--hdf5 -: standard output cannot be such a file; name one");
  check_writable(path);
  if (FileWriter::to_device(path))
    throw InputError(fmt::format("--hdf5 {}: a pipe or device cannot be such a file", path));
}

std::unique_ptr<TableWriter> hdf5_writer(const std::string& path, double rows) {
  check_hdf5(path);
  H5dont_atexit();  // it would try to finish files that were given up
  return std::make_unique<Hdf5Writer>(path, rows);
}

}  // namespace routh::io
