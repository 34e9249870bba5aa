#include "coordinator/rehearse/processes.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace plimsoll::rehearse {

std::vector<int> ChildrenOf(int pid) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
  std::vector<int> children;
  for (int child = 0; file >> child;) children.push_back(child);
  std::sort(children.begin(), children.end());
  return children;
}

bool IsRunning(int pid, std::string_view name) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::ostringstream text;
  text << file.rdbuf();
  // The state is behind the name, which may hold anything.
  const std::string stat = text.str();
  const std::size_t end = stat.rfind(") ");
  const std::size_t begin = stat.find('(');
  if (end == std::string::npos || end + 2 >= stat.size() || begin >= end) return false;
  // The system keeps fifteen bytes of a name.
  const bool same = std::string_view(stat).substr(begin + 1, end - begin - 1) == name.substr(0, 15);
  return same && stat[end + 2] != 'Z' && stat[end + 2] != 'X';
}

}  // namespace plimsoll::rehearse
