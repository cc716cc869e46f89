/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses and CIDR blocks (apiserver pkg/cel/library/ip.go, cidr.go).
 */
#include "url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

struct block_of_addresses {
	struct address address;
	int bits;
};

static bool addresses_equal(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	return x->size == y->size && memcmp(x->bytes, y->bytes, x->size) == 0;
}

static bool blocks_equal(const void *a, const void *b)
{
	const struct block_of_addresses *x = a, *y = b;

	return x->bits == y->bits && addresses_equal(&x->address, &y->address);
}

static uint64_t address_size(const void *data)
{
	return (uint64_t)((const struct address *)data)->size;
}

/* Returns the length of the prefix in bytes, for the cost. */
static uint64_t block_size(const void *data)
{
	const struct block_of_addresses *block = data;

	return ((uint64_t)block->bits + 7) / 8;
}

static const struct cel_opaque_type ip_type = {
	.type = {.kind = CEL_OPAQUE, .name = "net.IP"},
	.equal = addresses_equal,
	.size = address_size};
static const struct cel_opaque_type cidr_type = {
	.type = {.kind = CEL_OPAQUE, .name = "net.CIDR"},
	.equal = blocks_equal,
	.size = block_size};

/* inet_pton() accepts the same texts as Go, except for the zone. */
bool address_parse(struct cel_text text, struct address *out)
{
	char plain[INET6_ADDRSTRLEN] = "";
	size_t len = cel_text_find(text, '%');

	*out = (struct address){.zone = len < text.len};
	if (len >= sizeof(plain) || memchr(text.data, 0, len) ||
	    len + 1 == text.len)
		return false;
	memcpy(plain, text.data, len);
	out->size = strchr(plain, ':') ? 16 : 4;
	if (out->size == 4)
		return !out->zone && inet_pton(AF_INET, plain, out->bytes) > 0;
	return inet_pton(AF_INET6, plain, out->bytes) > 0;
}

/* Parses an address. A zone and the form ::ffff:1.2.3.4 are rejected. */
static bool parse_ip(struct cel_text text, struct address *out)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	return address_parse(text, out) && !out->zone &&
	       (out->size == 4 || memcmp(out->bytes, mapped, 12) != 0);
}

static bool parse_cidr(struct cel_text text, struct block_of_addresses *out)
{
	const char *slash = memrchr(text.data, '/', text.len);
	size_t at = slash ? (size_t)(slash - text.data) : text.len;
	struct cel_text bits;
	uint64_t value;

	if (!slash || !parse_ip(cel_part(text, 0, at), &out->address))
		return false;
	bits = cel_part(text, at + 1, text.len);
	if (!cel_digits(bits, &value) || (bits.len > 1 && *bits.data == '0'))
		return false;
	out->bits = (int)value;
	return value <= (uint64_t)out->address.size * 8;
}

static bool is_zero(const struct address *address)
{
	static const unsigned char zero[16];

	return memcmp(address->bytes, zero, sizeof(zero)) == 0;
}

static unsigned group_of(const struct address *address, int i)
{
	return (unsigned)address->bytes[2 * i] << 8 | address->bytes[2 * i + 1];
}

static struct cel_value ip(struct cel_call *call)
{
	struct address *address = ARENA_NEW(call->arena, struct address);

	return parse_ip(call->args[0].text, address)
		       ? cel_opaque(&ip_type, address)
		       : cel_is_not(call, "an IP address");
}

static struct cel_value is_ip(struct cel_call *call)
{
	struct address address;

	return cel_bool(parse_ip(call->args[0].text, &address));
}

static struct cel_value address_text(struct cel_call *call,
				     const struct address *address)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(address->size == 4 ? AF_INET : AF_INET6, address->bytes, text,
		  sizeof(text));
	/* For such an address, Go prints ::102:304 and inet_ntop()
	 * ::1.2.3.4. */
	if (address->size == 16 && strchr(text, '.'))
		snprintf(text, sizeof(text), "::%x:%x", group_of(address, 6),
			 group_of(address, 7));
	return cel_string(arena_strdup(call->arena, text));
}

static struct cel_value is_canonical(struct cel_call *call)
{
	struct address address;

	if (!parse_ip(call->args[0].text, &address))
		return cel_is_not(call, "an IP address");
	return cel_equal(call->arena, address_text(call, &address),
			 call->args[0]);
}

static const struct address *ip_of(const struct cel_call *call)
{
	return call->args[0].opaque.data;
}

static const struct block_of_addresses *cidr_of(const struct cel_call *call)
{
	return call->args[0].opaque.data;
}

static struct cel_value ip_string(struct cel_call *call)
{
	return address_text(call, ip_of(call));
}

static struct cel_value family(struct cel_call *call)
{
	return cel_int(ip_of(call)->size == 4 ? 4 : 6);
}

static struct cel_value is_unspecified(struct cel_call *call)
{
	return cel_bool(is_zero(ip_of(call)));
}

static bool loopback(const struct address *a)
{
	struct address rest = *a;

	if (a->size == 4)
		return a->bytes[0] == 127;
	rest.bytes[15] ^= 1;
	return is_zero(&rest);
}

static bool link_local(const struct address *a)
{
	if (a->size == 4)
		return a->bytes[0] == 169 && a->bytes[1] == 254;
	return a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

static struct cel_value is_loopback(struct cel_call *call)
{
	return cel_bool(loopback(ip_of(call)));
}

static struct cel_value is_link_local_multicast(struct cel_call *call)
{
	const struct address *a = ip_of(call);

	if (a->size == 4)
		return cel_bool(a->bytes[0] == 224 && a->bytes[1] == 0 &&
				a->bytes[2] == 0);
	return cel_bool(a->bytes[0] == 0xff && (a->bytes[1] & 0xf) == 2);
}

static struct cel_value is_link_local_unicast(struct cel_call *call)
{
	return cel_bool(link_local(ip_of(call)));
}

static struct cel_value is_global_unicast(struct cel_call *call)
{
	static const unsigned char all[4] = {255, 255, 255, 255};
	const struct address *a = ip_of(call);
	bool multicast = a->size == 4 ? (a->bytes[0] & 0xf0) == 0xe0
				      : a->bytes[0] == 0xff;
	bool broadcast = a->size == 4 && memcmp(a->bytes, all, 4) == 0;

	return cel_bool(!is_zero(a) && !broadcast && !multicast &&
			!loopback(a) && !link_local(a));
}

static struct cel_value cidr(struct cel_call *call)
{
	struct block_of_addresses *block =
		ARENA_NEW(call->arena, struct block_of_addresses);

	return parse_cidr(call->args[0].text, block)
		       ? cel_opaque(&cidr_type, block)
		       : cel_is_not(call, "a CIDR block");
}

static struct cel_value is_cidr(struct cel_call *call)
{
	struct block_of_addresses block;

	return cel_bool(parse_cidr(call->args[0].text, &block));
}

static struct cel_value cidr_string(struct cel_call *call)
{
	struct cel_value text = address_text(call, &cidr_of(call)->address);

	return cel_string(arena_printf(call->arena, "%s/%d", text.text.data,
				       cidr_of(call)->bits));
}

static struct cel_value cidr_ip(struct cel_call *call)
{
	return cel_opaque(&ip_type, &cidr_of(call)->address);
}

static struct cel_value prefix_length(struct cel_call *call)
{
	return cel_int(cidr_of(call)->bits);
}

static void mask(struct address *address, int bits)
{
	for (int i = 0; i < address->size; i++, bits -= 8) {
		if (bits <= 0)
			address->bytes[i] = 0;
		else if (bits < 8)
			address->bytes[i] &=
				(unsigned char)(0xff << (8 - bits));
	}
}

static struct cel_value masked(struct cel_call *call)
{
	struct block_of_addresses *block =
		ARENA_NEW(call->arena, struct block_of_addresses);

	*block = *cidr_of(call);
	mask(&block->address, block->bits);
	return cel_opaque(&cidr_type, block);
}

static bool covers(const struct block_of_addresses *block,
		   struct address address)
{
	struct address base = block->address;

	mask(&base, block->bits);
	mask(&address, block->bits);
	return addresses_equal(&base, &address);
}

/* The argument is an address, or a text that is parsed as one. */
static struct cel_value contains_ip(struct cel_call *call)
{
	struct address address;

	if (cel_is(call->args[1], CEL_OPAQUE))
		address = *(const struct address *)call->args[1].opaque.data;
	else if (!parse_ip(call->args[1].text, &address))
		return cel_no_overload(call);
	return cel_bool(covers(cidr_of(call), address));
}

static struct cel_value contains_cidr(struct cel_call *call)
{
	struct cel_value other = call->args[1];
	const struct block_of_addresses *block;

	if (cel_is(other, CEL_STRING)) {
		struct cel_call parse = *call;

		parse.args++;
		other = cidr(&parse);
		if (cel_is(other, CEL_ERROR))
			return other;
	}
	block = other.opaque.data;
	return cel_bool(block->bits >= cidr_of(call)->bits &&
			covers(cidr_of(call), block->address));
}

static uint64_t other_cost(const struct cel_call *call)
{
	return cel_is(call->args[1], CEL_STRING)
		       ? cel_cost_share(cel_cost_size(call->args[1]), 0.1)
		       : 0;
}

static uint64_t contains_ip_cost(const struct cel_call *call,
				 struct cel_value result)
{
	return cel_cost_twice(call, result) + other_cost(call);
}

static uint64_t contains_cidr_cost(const struct cel_call *call,
				   struct cel_value result)
{
	return cel_cost_twice(call, result) + cel_cost_traverse(call, result) +
	       1 + other_cost(call);
}

const struct cel_overload cel_addresses_library[] = {
	{"ip", "(string) net.IP", ip, cel_cost_traverse},
	{"isIP", "(string) bool", is_ip, cel_cost_traverse},
	{"ip.isCanonical", "(string) bool", is_canonical, cel_cost_twice},
	{"string", "(net.IP) string", ip_string, NULL},
	{"family", "net.IP.() int", family, NULL},
	{"isUnspecified", "net.IP.() bool", is_unspecified, NULL},
	{"isLoopback", "net.IP.() bool", is_loopback, NULL},
	{"isLinkLocalMulticast", "net.IP.() bool", is_link_local_multicast,
	 NULL},
	{"isLinkLocalUnicast", "net.IP.() bool", is_link_local_unicast, NULL},
	{"isGlobalUnicast", "net.IP.() bool", is_global_unicast, NULL},
	{"cidr", "(string) net.CIDR", cidr, cel_cost_traverse},
	{"isCIDR", "(string) bool", is_cidr, cel_cost_traverse},
	{"string", "(net.CIDR) string", cidr_string, NULL},
	{"ip", "net.CIDR.() net.IP", cidr_ip, NULL},
	{"prefixLength", "net.CIDR.() int", prefix_length, NULL},
	{"masked", "net.CIDR.() net.CIDR", masked, NULL},
	{"containsIP", "net.CIDR.(string) bool", contains_ip, contains_ip_cost},
	{"containsIP", "net.CIDR.(net.IP) bool", contains_ip, contains_ip_cost},
	{"containsCIDR", "net.CIDR.(string) bool", contains_cidr,
	 contains_cidr_cost},
	{"containsCIDR", "net.CIDR.(net.CIDR) bool", contains_cidr,
	 contains_cidr_cost},
	{0},
};
