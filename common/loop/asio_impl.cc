// Asio and Beast compiled once for the whole project (see plimsoll_boost in cmake/packages.cmake).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
