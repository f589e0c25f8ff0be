#include "ranks.h"
#include "routh/io/document.h"

namespace routh::app {

io::SharePieces share_pieces() {
  if (processes() > 1) throw io::InputError(kProcessesMissing);
  return {};
}

void end_processes(int) {}

}  // namespace routh::app
