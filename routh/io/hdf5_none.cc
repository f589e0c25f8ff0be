#include "routh/io/document.h"
#include "routh/io/table.h"

namespace routh::io {

bool has_hdf5() { return false; }

void check_hdf5(const std::string& path) {
  throw InputError("--hdf5 " + path +
                   ": this program was built without HDF5 (apt-get install libhdf5-dev, then make "
                   "build); --csv needs nothing");
}

std::unique_ptr<TableWriter> hdf5_writer(const std::string& path, double) {
  check_hdf5(path);
  return nullptr;
}

}  // namespace routh::io
