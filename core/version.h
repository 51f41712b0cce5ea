/* The version of Sluice, for programs that print it or test for it.
 * CMake reads the project's version from this file, so the number has one home. */
#ifndef SLC_CORE_VERSION_H
#define SLC_CORE_VERSION_H

#define SLC_VERSION "0.1.0"

#endif
