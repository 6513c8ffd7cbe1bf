/*
 * ssh_age: reports SSH servers that are older than you allow, or that offer protocol 1. Reads banners, publishes findings.
 *
 *     gcc -O2 -Wall -shared -fPIC -I.. -o ssh_age.so ssh_age.c
 *     portolan scan 192.0.2.0/24 --profile standard --plugin ./ssh_age.so
 */
#include "service_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of JSON text, still with its escapes. */
typedef struct slice {
  const char *start;
  int length;
} slice;

/*
 * Value of a member of a flat item; 0 if it has none. `"name":` cannot stand within a text, whose quotes are escaped.
 */
static int member(const char *json, const char *name, slice *value) {
  char pattern[40];
  snprintf(pattern, sizeof pattern, "\"%s\":", name);
  const char *found = strstr(json, pattern);
  if (!found) return 0;
  const char *start = found + strlen(pattern), *end = start;
  if (*start == '"') {
    for (end = ++start; *end && *end != '"'; end += 1) {
      if (*end == '\\' && end[1]) end += 1;
    }
  } else {
    end += strcspn(start, ",}");
  }
  *value = (slice){start, (int)(end - start)};
  return 1;
}

/* "8.4" as 804. */
static int version_number(const char *text) {
  int major = 0, minor = 0;
  return sscanf(text, "%3d.%2d", &major, &minor) >= 1 ? major * 100 + minor : 0;
}

static int report(const service_host *host, const char *json, const char *id, const char *title, const char *severity,
                  const char *remedy, slice evidence) {
  slice address, port, protocol;
  if (!member(json, "host", &address) || !member(json, "port", &port) || !member(json, "protocol", &protocol)) return 0;
  char item[4096];
  int length = snprintf(
    item, sizeof item,
    "{\"host\":\"%.*s\",\"port\":%.*s,\"protocol\":\"%.*s\",\"id\":\"%s\",\"title\":\"%s\",\"severity\":\"%s\","
    "\"cvss\":null,\"kev\":false,\"epss\":null,\"cpe\":null,\"affected\":null,\"detected\":null,\"confidence\":0.9,"
    "\"backport_note\":null,\"class\":\"likely\",\"evidence\":\"%.*s\",\"remediation\":\"%s\",\"references\":[],"
    "\"plugin\":\"ssh_age\"}",
    address.length, address.start, port.length, port.start, protocol.length, protocol.start, id, title, severity,
    evidence.length, evidence.start, remedy);
  if (length >= (int)sizeof item) return 0;
  return host->append(host->handle, "vulnerabilities", item, (size_t)length);
}

static int check(const service_host *host, const char *json, int oldest) {
  slice banner;
  if (!member(json, "banner", &banner) || strncmp(banner.start, "SSH-", 4) != 0) return 0;
  /* The first line, up to its \r or \n, which are escapes here. */
  slice line = {banner.start, 0};
  while (line.length < banner.length && line.length < 255 && line.start[line.length] != '\\') line.length += 1;
  if (strncmp(line.start, "SSH-1.", 6) == 0) {
    return report(host, json, "ssh-age-protocol-1", "SSH server offers protocol 1", "high", "Disable protocol 1.", line);
  }
  const char *prefix = "SSH-2.0-OpenSSH_";
  if (strncmp(line.start, prefix, strlen(prefix)) != 0) return 0;
  int version = version_number(line.start + strlen(prefix));
  if (version == 0 || version >= oldest) return 0;
  return report(host, json, "ssh-age-openssh", "OpenSSH is older than allowed", "medium", "Upgrade OpenSSH.", line);
}

static int nothing(char **error) {
  (void)error;
  return 0;
}

static int oldest_of(const char *json) {
  slice oldest;
  return member(json, "oldest_openssh", &oldest) ? version_number(oldest.start) : 0;
}

static int configure(const char *config_json, size_t len, char **error) {
  (void)len;
  if (oldest_of(config_json) > 0) return 0;
  *error = strdup("oldest_openssh is no version such as 8.4");
  return 1;
}

static int execute(const char *context_json, size_t len, const service_host *host, char **error) {
  (void)len;
  int oldest = oldest_of(context_json), result;
  char *json;
  size_t json_len;
  while ((result = host->next(host->handle, "banners", &json, &json_len)) == 0) {
    result = check(host, json, oldest);
    host->release(host->handle, json);
    if (result != 0) break;
  }
  /* 3 = end of stream. */
  if (result == 3) return 0;
  *error = strdup(result == 2 ? "canceled" : "cannot read banners or publish findings");
  return result;
}

static const char *const requires_keys[] = {"banners", NULL};
static const char *const provides_keys[] = {"vulnerabilities", NULL};

const service_plugin Plugin = {
  .abi_version = SERVICE_PLUGIN_ABI_VERSION,
  .struct_size = sizeof(service_plugin),
  .name = "ssh_age",
  .description = "Reports old OpenSSH versions and SSH protocol 1.",
  .version = "1.0.0",
  .type = "evaluation",
  .config_schema = "{\"oldest_openssh\": {\"Type\": \"string\", \"Default\": \"8.4\","
                   " \"Description\": \"Oldest OpenSSH version that is not reported.\"}}",
  .requires_keys = requires_keys,
  .provides_keys = provides_keys,
  .initialize = nothing,
  .configure = configure,
  .execute = execute,
  .cleanup = nothing,
  .free = free,
};
