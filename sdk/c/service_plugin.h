/*
 * service_plugin.h, ABI 1: a scan module of Portolan as a shared object.
 *
 * A plugin is one .so that exports the data symbol `Plugin` (at the end of this file). Text is UTF-8; JSON travels as
 * pointer and length. Results are int: 0 = ok. Build it with
 *
 *     gcc -O2 -Wall -shared -fPIC -o my_plugin.so my_plugin.c
 *
 * It runs in a process of its own that the kernel confines: no socket, no new process, no program, no file is written,
 * and only system libraries and the plugin's own folder can be read. ABI 1 has no functions for the network: a native
 * plugin works on what other modules found. A crash, an endless loop or too much memory ends that process and fails the
 * node, never the scan.
 *
 * stdout is not for you: print to stderr, or call host->log.
 */
#ifndef SERVICE_PLUGIN_H
#define SERVICE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SERVICE_PLUGIN_ABI_VERSION 1u

/*
 * What a node can ask of the scan. Given to execute and valid during that call; call it from the thread that execute
 * was called in. Each function that returns int can return
 *   0  ok
 *   1  no such key (get, next)
 *   2  canceled, or the deadline has passed: return from execute soon
 *   3  end of stream (next)
 *   5  the scan rejected the call: the node fails with the reason, whatever execute returns. Return from execute.
 */
typedef struct service_host {
  uint32_t abi_version;
  /* First argument of every function below. */
  void *handle;
  /* Waits for the complete value of a key: a JSON array of its items, or the one value that a module wrote by set. The
     value takes memory until execute returns. Read a key by get or by next, not by both. */
  int (*get)(void *handle, const char *key, char **json, size_t *len);
  /* Waits for the next item of a key and hands out its JSON, with a NUL after it that len does not count. It stays valid
     until you release it. Release items as you go. */
  int (*next)(void *handle, const char *key, char **json, size_t *len);
  /* Writes one JSON value and ends the key. */
  int (*set)(void *handle, const char *key, const char *json, size_t len);
  /* Publishes one item or a JSON array of items; json is copied. Blocks while readers of the key are behind. Items leave
     in batches, so a rejection can show at a later call. */
  int (*append)(void *handle, const char *key, const char *json, size_t len);
  /* 1 if the node should end, else 0. Costs well below a microsecond: ask in long loops. */
  int (*canceled)(void *handle);
  /* Milliseconds until the deadline; -1 = no deadline. */
  int64_t (*remaining_ms)(void *handle);
  /* level: 0 trace, 1 debug, 2 info, 3 warning, 4 error. */
  void (*log)(void *handle, int level, const char *message);
  /* Frees what get or next returned. */
  void (*release)(void *handle, char *buffer);
} service_host;

/*
 * The plugin. Nothing in it may be NULL.
 *
 * A function that fails returns a number other than 0 and may point *error to a text; the scan shows it (4096 bytes at
 * the most) and hands it to free. The calls come in this order, from more than one thread but never two at once unless
 * the graph of a scan has several nodes of the plugin: initialize once; configure once per node; execute once per node,
 * each in a thread of its own; cleanup once.
 */
typedef struct service_plugin {
  uint32_t abi_version; /* SERVICE_PLUGIN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(service_plugin) */
  /* Name of the module: ^[a-z][a-z0-9_]{1,63}$, not that of another module. */
  const char *name, *description;
  /* Such as "1.0.0". */
  const char *version;
  /* discovery, scanner, parser, fingerprint, profiler, evaluation or reporter. */
  const char *type;
  /* JSON: option name -> {Type, Description, Default, Required, Min, Max, Enum}; Type is int, string, duration or bool.
     "{}" = no options. */
  const char *config_schema;
  /* Keys that it reads ("a|b" = at least one of them) and publishes; NULL-terminated. */
  const char *const *requires_keys, *const *provides_keys;
  int (*initialize)(char **error);
  /* Options of a node, checked and with defaults; durations in milliseconds. The next execute need not be that node's if
     the graph has several nodes of the plugin: execute gets the same options as "config". */
  int (*configure)(const char *config_json, size_t len, char **error);
  /* context_json: {"scan_id", "instance_id", "deadline_ms" (null = none), "keys": [keys that can be read], "config": {}}.
     instance_id is the name of the node. */
  int (*execute)(const char *context_json, size_t len, const service_host *host, char **error);
  int (*cleanup)(char **error);
  /* Frees *error. */
  void (*free)(void *pointer);
} service_plugin;

#ifdef __cplusplus
}
extern "C"
#else
extern
#endif
__attribute__((visibility("default"))) const service_plugin Plugin;

#endif
