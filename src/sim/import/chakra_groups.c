/* SPDX-License-Identifier: BSD-2-Clause */
/* chakra_groups.c - groups by name, and the two forms of JSON that say who is in them. */
#include "sim/import/trace.h"

#include <jansson.h>

#include "sim/workload/workload.h"

void ms_chakra_groups_fini(struct ms_chakra_groups *g)
{
	for (size_t i = 0; i < g->group.n; i++)
		free(g->group.at[i].rank);
	ms_grow_free(&g->group);
	ms_labels_fini(&g->numbers);
}

bool ms_chakra_groups_number(struct ms_chakra_groups *g, const char *name, uint32_t len,
			     uint32_t *number)
{
	const struct ms_chakra_group fresh = {.n = 0};

	if (ms_labels_find(&g->numbers, name, len, number))
		return true;
	*number = (uint32_t)g->group.n;
	return ms_labels_add(&g->numbers, name, len, *number) == MS_LABEL_ADDED &&
	       ms_grow_add(&g->group, &fresh);
}

/* A label is added with each group, so that both have one number. */
const char *ms_chakra_group_name(const struct ms_chakra_groups *g, uint32_t number,
				 char out[MS_CHAKRA_NAME_BYTES])
{
	const struct ms_label *label = &g->numbers.label.at[number];
	uint32_t len = label->len < MS_CHAKRA_NAME_BYTES ? label->len : MS_CHAKRA_NAME_BYTES - 1;

	if (len > 0)
		memcpy(out, g->numbers.text.at + label->at, len);
	out[len] = '\0';
	return out;
}

/* ---- who is in one ---- */

static bool take_rank(struct ms_chakra_group *said, const json_t *rank, uint32_t ranks,
		      const char *name, char *why)
{
	const json_int_t r = json_is_integer(rank) ? json_integer_value(rank) : -1;

	if (r < 0 || r >= ranks)
		return ms_refuse(why, "process group '%.60s': rank %lld: expected 0 to %u", name,
				 (long long)r, ranks - 1);
	for (uint32_t i = 0; i < said->n; i++)
		if (said->rank[i] == (uint32_t)r)
			return ms_refuse(why, "process group '%.60s': rank %lld appears twice",
					 name, (long long)r);
	said->rank[said->n++] = (uint32_t)r;
	return true;
}

/* add_group takes over what is said of a group; where that was done before it must be the same. */
static bool add_group(struct ms_chakra_groups *g, const char *name, struct ms_chakra_group *said,
		      char *why)
{
	struct ms_chakra_group *group;
	uint32_t number;

	if (!ms_chakra_groups_number(g, name, (uint32_t)strlen(name), &number))
		return ms_refuse(why, "process groups: out of memory");
	group = &g->group.at[number];
	if (group->said) {
		if (group->n != said->n ||
		    (said->n > 0 &&
		     memcmp(group->rank, said->rank, said->n * sizeof(*said->rank)) != 0))
			return ms_refuse(why, "process group '%.60s': other ranks were said before",
					 name);
		return true;
	}
	*group = *said;
	said->rank = NULL;
	return true;
}

static bool take_group(struct ms_chakra_groups *g, const char *name, const json_t *list,
		       uint32_t ranks, char *why)
{
	struct ms_chakra_group said = {.said = true};
	bool ok = json_is_array(list);

	if (!ok)
		return ms_refuse(why, "process group '%.60s': expected a list of ranks", name);
	if (json_array_size(list) > ranks)
		return ms_refuse(why, "process group '%.60s': has more ranks than there are, %u",
				 name, ranks);
	if (json_array_size(list) > 0) {
		said.rank = calloc(json_array_size(list), sizeof(*said.rank));
		if (!said.rank)
			return ms_refuse(why, "process groups: out of memory");
	}
	for (size_t i = 0; ok && i < json_array_size(list); i++)
		ok = take_rank(&said, json_array_get(list, i), ranks, name, why);
	ok = ok && add_group(g, name, &said, why);
	free(said.rank);
	return ok;
}

/* ---- the two forms ---- */

static bool take_object(struct ms_chakra_groups *g, json_t *all, uint32_t ranks, char *why)
{
	const char *name;
	json_t *list;

	json_object_foreach(all, name,
			    list) if (!take_group(g, name, list, ranks, why)) return false;
	return true;
}

static bool take_list(struct ms_chakra_groups *g, const json_t *all, uint32_t ranks, char *why)
{
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *one = json_array_get(all, i);
		const char *name = json_string_value(json_object_get(one, "pg_name"));

		if (!name)
			return ms_refuse(why, "process group number %zu: has no pg_name", i + 1);
		if (!take_group(g, name, json_object_get(one, "ranks"), ranks, why))
			return false;
	}
	return true;
}

/* unwrap_list takes the brackets and quotes of a list of Python off, which holds one string. */
static void unwrap_list(const char **json, size_t *len)
{
	const char *at = *json;

	if (*len >= 4 && at[0] == '[' && (at[1] == '\'' || at[1] == '"') && at[*len - 1] == ']' &&
	    at[*len - 2] == at[1]) {
		*json += 2;
		*len -= 4;
	}
}

bool ms_chakra_groups_read(struct ms_chakra_groups *g, const char *json, size_t len, uint32_t ranks,
			   char *why)
{
	json_error_t error;
	json_t *all;
	bool ok;

	unwrap_list(&json, &len);
	all = json_loadb(json, len, JSON_REJECT_DUPLICATES, &error);
	if (!all)
		return ms_refuse(why, "process groups: are no JSON: %.120s", error.text);
	if (json_is_object(all))
		ok = take_object(g, all, ranks, why);
	else
		ok = take_list(g, all, ranks, why);
	json_decref(all);
	return ok;
}
