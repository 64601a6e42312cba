/* Readers: the bytes of code objects before they are loaded, and where they came from; and what stood for them in the
 * interface before there were readers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

/* The file that a mapped address belongs to, and where in it. */
static bool mapped_file(uint64_t address, char *path, size_t room, uint64_t *offset) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[PATH_LIMIT + 128];
  bool found = false;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    uint64_t low, high, start;
    int name = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &low, &high, &start, &name) < 3 || address < low || address >= high) continue;
    if (!name || line[name] != '/') break;
    line[strcspn(line, "\n")] = 0;
    snprintf(path, room, "%s", line + name);
    *offset = start + (address - low);
    found = true;
  }
  if (maps) fclose(maps);
  return found;
}

/* The path in a URI: what is not plain is written as %xx. */
static void append_path(char *uri, size_t room, const char *path) {
  size_t at = strlen(uri);
  for (; *path && at + 4 < room; path++) {
    bool plain = (*path >= '0' && *path <= '9') || (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') || strchr("/._-~", *path);
    at += snprintf(uri + at, room - at, plain ? "%c" : "%%%02X", (unsigned char)*path);
  }
}

static hsa_status_t reader_from(const void *data, size_t size, int file, bool owned, hsa_code_object_reader_t *out) {
  reader_t *reader = calloc(1, sizeof *reader);
  if (!reader) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *reader = (reader_t){.data = data, .size = size, .file = file, .owned = owned};
  char path[PATH_LIMIT / 4];
  uint64_t offset;
  if (mapped_file((uint64_t)data, path, sizeof path, &offset)) {
    strcpy(reader->uri, "file://");
    append_path(reader->uri, sizeof reader->uri - 64, path);
    size_t end = strlen(reader->uri);
    if (offset || owned) snprintf(reader->uri + end, 64, "#offset=%lu&size=%zu", offset, size);
    else snprintf(reader->uri + end, 64, "#offset=0&size=%zu", size);
  } else {
    snprintf(reader->uri, sizeof reader->uri, "memory://%d#offset=%#lx&size=%zu", getpid(), (uint64_t)data, size);
  }
  out->handle = (uint64_t)reader;
  return OK;
}

EXPORT hsa_status_t hsa_code_object_reader_create_from_memory(const void *data, size_t size, hsa_code_object_reader_t *out) {
  NEEDS_OPEN();
  if (!data || !size || !out) return BAD;
  return reader_from(data, size, -1, false, out);
}

hsa_status_t reader_from_file(int file, size_t offset, size_t size, hsa_code_object_reader_t *out) {
  NEEDS_OPEN();
  struct stat info;
  if (!out) return BAD;
  if (fstat(file, &info) || !size || offset > (size_t)info.st_size || size > info.st_size - offset) return HSA_STATUS_ERROR_INVALID_FILE;
  size_t skip = offset % sysconf(_SC_PAGESIZE);
  char *data = mmap(NULL, size + skip, PROT_READ, MAP_PRIVATE, file, offset - skip);
  if (data == MAP_FAILED) return HSA_STATUS_ERROR_INVALID_FILE;
  return reader_from(data + skip, size, file, true, out);
}
EXPORT hsa_status_t hsa_code_object_reader_create_from_file(int file, hsa_code_object_reader_t *out) {
  struct stat info;
  return fstat(file, &info) ? HSA_STATUS_ERROR_INVALID_FILE : reader_from_file(file, 0, info.st_size, out);
}
EXPORT hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t handle) {
  NEEDS_OPEN();
  reader_t *reader = (reader_t *)handle.handle;
  if (!reader) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  if (reader->owned) {
    size_t skip = (uint64_t)reader->data % sysconf(_SC_PAGESIZE);
    munmap((char *)reader->data - skip, reader->size + skip);
  }
  free(reader);
  return OK;
}

/* -- code objects of the interface before readers -- */
EXPORT hsa_status_t hsa_code_object_deserialize(void *data, size_t size, const char *options, hsa_code_object_t *out) {
  NEEDS_OPEN();
  if (!data || !size || !out) return BAD;
  char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  memcpy(copy, data, size);
  hsa_code_object_reader_t reader;
  hsa_status_t status = reader_from(copy, size, -1, true, &reader);
  out->handle = reader.handle;
  if (!status) { /* named by what was copied, which may be a file */
    hsa_code_object_reader_t source;
    if (!reader_from(data, size, -1, false, &source)) {
      strcpy(((reader_t *)reader.handle)->uri, ((reader_t *)source.handle)->uri);
      free((void *)source.handle);
    }
  }
  return status;
}
EXPORT hsa_status_t hsa_code_object_destroy(hsa_code_object_t code) {
  NEEDS_OPEN();
  if (!code.handle) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  return hsa_code_object_reader_destroy((hsa_code_object_reader_t){code.handle});
}
