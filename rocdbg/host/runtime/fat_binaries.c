/* Fat binaries and modules of HIP programs, before HIP reads them.
 *
 * HIP 5 takes a kernel that has the hidden arguments of device-side enqueue for one that enqueues, and crashes at its
 * first launch. Later releases of LLVM give these arguments to every kernel that it has not optimised, though HIP has no
 * device-side enqueue. In the metadata they become "hidden_none": HIP then leaves their words alone. The text is shorter
 * than what it replaces; MessagePack can write numbers and lengths with more bytes than they need, which fills the rest,
 * so that nothing else moves. HIP 5 cannot read compressed bundles either: they are unpacked if libzstd is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__", none[] = "hidden_none";
enum { MAGIC_SIZE = sizeof bundle_magic - 1, MOST_ENTRIES = 256, NONE_SIZE = sizeof none - 1, MAP_OF_THREE = 0x83 };
typedef struct { uint32_t magic, version; const void *binary; void *unused; } fat_binary_t;

/* The end of what the bundle's entries cover; 0 if it is no bundle, or not one within `most` bytes. */
static uint64_t bundle_size(const char *bundle, uint64_t most) {
  uint64_t count, end = 0, entry[3];
  if (most < MAGIC_SIZE + 8 || memcmp(bundle, bundle_magic, MAGIC_SIZE)) return 0;
  memcpy(&count, bundle + MAGIC_SIZE, 8);
  if (count > MOST_ENTRIES) return 0;
  for (const char *at = bundle + MAGIC_SIZE + 8; count--; at += sizeof entry + entry[2]) {
    if ((uint64_t)(at - bundle) + sizeof entry > most) return 0;
    memcpy(entry, at, sizeof entry); /* where its code is, its size, and that of its name, which follows */
    if (entry[2] > 4096 || entry[0] + entry[1] < entry[0] || entry[0] + entry[1] > most) return 0;
    if (entry[0] + entry[1] > end) end = entry[0] + entry[1];
  }
  return end;
}

/* A text, its length written in 0, 1, 2 or 4 bytes. */
static uint8_t *put_text(uint8_t *at, const char *text, size_t size, int width) {
  static const uint8_t head[] = {0, 0xd9, 0xda, 0, 0xdb};
  if (!width) *at++ = 0xa0 | size;
  else {
    *at++ = head[width];
    for (int i = width; i--;) *at++ = size >> 8 * i & 255;
  }
  memcpy(at, text, size);
  return at + size;
}

/* A number below 2^16, written in 0, 1, 2, 4 or 8 bytes behind its head. */
static uint8_t *put_number(uint8_t *at, uint64_t value, int width) {
  static const uint8_t head[] = {0, 0xcc, 0xcd, 0, 0xce, 0, 0, 0, 0xcf};
  *at++ = width ? head[width] : value;
  for (int i = width; i--;) *at++ = value >> 8 * i & 255;
  return at;
}

/* An argument's map {.offset, .size, .value_kind: hidden_none} of exactly so many bytes. */
static bool write_map(uint8_t *at, size_t size, uint64_t offset) {
  static const int text_widths[] = {0, 1, 2, 4}, number_widths[] = {0, 1, 2, 4, 8};
  for (int choice = 0; choice < 4 * 4 * 5 * 5; choice++) {
    int value = text_widths[choice % 4], key = text_widths[choice / 4 % 4];
    int first = number_widths[choice / 16 % 5], second = number_widths[choice / 80];
    if (offset >= (first == 0 ? 128 : first == 1 ? 256 : 65536)) continue;
    /* the map's head, three keys, two numbers, the text */
    if (1 + 8 + (1 + first) + (key ? 1 + key + 5 : 6) + (1 + second) + 12 + (1 + value + NONE_SIZE) != size) continue;
    *at++ = MAP_OF_THREE;
    at = put_number(put_text(at, ".offset", 7, 0), offset, first);
    at = put_number(put_text(at, ".size", 5, key), 8, second);
    put_text(put_text(at, ".value_kind", 11, 0), none, NONE_SIZE, value);
    return true;
  }
  return false;
}

/* Where the map of a hidden argument begins whose kind is the text at `kind`, and its offset; NULL if it is not one. */
static uint8_t *map_before(uint8_t *bundle, uint8_t *kind, uint64_t *offset) {
  static const char tail[] = "\xa5.size\x08\xab.value_kind", head[] = "\x83\xa7.offset";
  enum { TAIL = sizeof tail - 1, HEAD = sizeof head - 1 };
  for (int width = 1; width <= 3; width++) {
    uint8_t *number = kind - TAIL - width, *begin = number - HEAD;
    if (begin < bundle || memcmp(begin, head, HEAD) || memcmp(number + width, tail, TAIL)) continue;
    if (width == 1 && number[0] < 128) *offset = number[0];
    else if (width == 2 && number[0] == 0xcc) *offset = number[1];
    else if (width == 3 && number[0] == 0xcd) *offset = number[1] << 8 | number[2];
    else continue;
    return begin;
  }
  return NULL;
}

static int rename_kinds(uint8_t *bundle, uint64_t size, bool change) {
  static const char *const kinds[] = {"\xb4hidden_default_queue", "\xb8hidden_completion_action"};
  int found = 0;
  for (int i = 0; i < 2; i++) {
    size_t length = strlen(kinds[i]);
    uint8_t *end = bundle + size, *at = bundle;
    while ((at = memmem(at, end - at, kinds[i], length))) {
      uint64_t offset;
      uint8_t *begin = map_before(bundle, at, &offset);
      at += length;
      if (begin && (!change || write_map(begin, at - begin, offset))) found++;
    }
  }
  return found;
}

/* Whether it is HIP 5 that registers. */
static bool is_old(void *function) {
  Dl_info where;
  if (!dladdr(function, &where) || !where.dli_fname) return false;
  char path[4096];
  ssize_t size = readlink(where.dli_fname, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  return strstr(where.dli_fname, "libamdhip64.so.5") || strstr(path, "libamdhip64.so.5");
}

/* A compressed bundle of at most so many bytes, as it was before; NULL, with a message, if it cannot be unpacked. */
static uint8_t *unpacked(const uint8_t *packed, uint64_t most, uint64_t *size) {
  uint16_t version, method;
  uint64_t sizes[2] = {0};
  if (most < 32) return NULL;
  memcpy(&version, packed + 4, 2), memcpy(&method, packed + 6, 2);
  size_t head = version == 3 ? 32 : version == 2 ? 24 : 0, width = version == 3 ? 8 : 4;
  memcpy(&sizes[0], packed + 8, width), memcpy(&sizes[1], packed + 8 + width, width); /* packed with its head, unpacked */
  void *library = head && method == 1 && sizes[0] > head && sizes[0] <= most ? dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
  size_t (*decompress)(void *, size_t, const void *, size_t) = library ? dlsym(library, "ZSTD_decompress") : NULL;
  uint8_t *bundle = decompress ? mmap(NULL, sizes[1], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (bundle != MAP_FAILED && decompress(bundle, sizes[1], packed + head, sizes[0] - head) == sizes[1]) {
    *size = sizes[1];
    return bundle;
  }
  if (bundle != MAP_FAILED) munmap(bundle, sizes[1]);
  say(0, "the kernels of this program are compressed, which HIP 5 cannot read: compile with -no-offload-compress");
  return NULL;
}

static void say_renamed(void) {
  static bool said;
  if (!said) say(0, "hidden arguments for device-side enqueue are removed from the kernels' metadata, because HIP 5 crashes on them");
  said = true;
}

EXPORT void **__hipRegisterFatBinary(const fat_binary_t *fat) {
  void **(*hips)(const void *) = dlsym(RTLD_NEXT, "__hipRegisterFatBinary");
  if (!hips) return NULL;
  if (!fat || !fat->binary || !is_old(hips)) return hips(fat);
  uint8_t *bundle = (uint8_t *)fat->binary;
  uint64_t whole = UINT64_MAX;
  if (!memcmp(bundle, "CCOB", 4) && (bundle = unpacked(bundle, whole, &whole))) {
    fat_binary_t *copy = malloc(sizeof *copy); /* HIP keeps both */
    if (!copy) return hips(fat);
    *copy = *fat, copy->binary = bundle;
    fat = copy;
  }
  uint64_t size = bundle ? bundle_size((char *)bundle, whole) : 0;
  if (size && rename_kinds(bundle, size, false)) {
    uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)bundle & -page;
    if (!mprotect((void *)first, (uint64_t)bundle + size - first, PROT_READ | PROT_WRITE)) {
      rename_kinds(bundle, size, true);
      say_renamed();
    }
  }
  return hips(fat);
}

/* Modules: HIP reads them from where they are as long as they are loaded, so a changed copy lives until the unload. */
typedef struct copy { struct copy *next; void *module; uint8_t data[]; } copy_t;
static copy_t *copies;
static pthread_mutex_t copies_lock = PTHREAD_MUTEX_INITIALIZER;

/* The size of a code object: LLVM's linker writes the table of sections last. 0 if it is not an ELF file, or not one
 * within `most` bytes. */
static uint64_t object_size(const uint8_t *image, uint64_t most) {
  Elf64_Ehdr head;
  if (most < sizeof head || memcmp(image, ELFMAG, SELFMAG)) return 0;
  memcpy(&head, image, sizeof head);
  uint64_t table = (uint64_t)head.e_shentsize * head.e_shnum;
  return head.e_shoff > most - table || table > most ? 0 : head.e_shoff + table;
}

/* A copy of an image of at most so many bytes with the hidden arguments renamed, or as it was before it was compressed;
 * NULL if HIP can read the image as it is. */
static copy_t *readable(const uint8_t *image, uint64_t most) {
  uint64_t unpacked_size = 0;
  uint8_t *bundle = most < 32 || memcmp(image, "CCOB", 4) ? NULL : unpacked(image, most, &unpacked_size);
  const uint8_t *from = bundle ? bundle : image;
  if (bundle) most = unpacked_size;
  uint64_t size = object_size(from, most);
  if (!size) size = bundle_size((const char *)from, most);
  bool renamed = size && rename_kinds((uint8_t *)from, size, false);
  copy_t *copy = size && (renamed || bundle) ? malloc(sizeof *copy + size) : NULL;
  if (copy) memcpy(copy->data, from, size);
  if (bundle) munmap(bundle, unpacked_size);
  if (copy && renamed) rename_kinds(copy->data, size, true), say_renamed();
  return copy;
}

/* Keep a copy with the module that HIP has loaded from it. Returns HIP's status. */
static int loaded(copy_t *copy, void **module, int status) {
  if (status) {
    free(copy);
    return status;
  }
  copy->module = *module;
  pthread_mutex_lock(&copies_lock);
  copy->next = copies, copies = copy;
  pthread_mutex_unlock(&copies_lock);
  return status;
}

typedef int load_t(void **, const void *), load_ex_t(void **, const void *, unsigned, int *, void **);

/* Load an image, changed where HIP cannot read it, by one of HIP's functions. */
static int load(load_t *plain, load_ex_t *extended, void **module, const void *image, unsigned count, int *options,
                void **values) {
  copy_t *copy = image && is_old(plain ? (void *)plain : (void *)extended) ? readable(image, UINT64_MAX) : NULL;
  if (copy) image = copy->data;
  int status = plain ? plain(module, image) : extended(module, image, count, options, values);
  return copy ? loaded(copy, module, status) : status;
}

enum { NOT_INITIALIZED = 3 }; /* of hipError_t */

EXPORT int hipModuleLoadData(void **module, const void *image) {
  load_t *hips = (load_t *)dlsym(RTLD_NEXT, "hipModuleLoadData");
  return hips ? load(hips, NULL, module, image, 0, NULL, NULL) : NOT_INITIALIZED;
}

EXPORT int hipModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  load_ex_t *hips = (load_ex_t *)dlsym(RTLD_NEXT, "hipModuleLoadDataEx");
  return hips ? load(NULL, hips, module, image, count, options, values) : NOT_INITIALIZED;
}

/* A file that HIP can read stays HIP's affair, with its name and its errors. */
EXPORT int hipModuleLoad(void **module, const char *path) {
  load_t *hips = (load_t *)dlsym(RTLD_NEXT, "hipModuleLoad"), *data = (load_t *)dlsym(RTLD_NEXT, "hipModuleLoadData");
  if (!hips) return NOT_INITIALIZED;
  int file = path && data && is_old(hips) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  struct stat about;
  uint8_t *whole = NULL;
  if (file >= 0 && !fstat(file, &about) && about.st_size > 0 && (whole = malloc(about.st_size))) {
    ssize_t got = 0;
    for (ssize_t more; got < about.st_size && (more = read(file, whole + got, about.st_size - got)) > 0;) got += more;
    if (got < about.st_size) free(whole), whole = NULL;
  }
  if (file >= 0) close(file);
  copy_t *copy = whole ? readable(whole, about.st_size) : NULL;
  free(whole);
  return copy ? loaded(copy, module, data(module, copy->data)) : hips(module, path);
}

EXPORT int hipModuleUnload(void *module) {
  int (*hips)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "hipModuleUnload");
  int status = hips ? hips(module) : NOT_INITIALIZED;
  pthread_mutex_lock(&copies_lock);
  for (copy_t **at = &copies; !status && *at;) {
    copy_t *copy = *at;
    if (copy->module == module) *at = copy->next, free(copy);
    else at = &copy->next;
  }
  pthread_mutex_unlock(&copies_lock);
  return status;
}
