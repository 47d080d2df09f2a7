/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask_mlx5.c - says of each device whether libmlx5, which this program is linked to, takes it for
 * its own: only if it and the library that lists devices have one copy of the driver.
 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	for (int i = 0; i < n; i++)
		printf("%s %s\n", ibv_get_device_name(list[i]),
		       mlx5dv_is_supported(list[i]) ? "mlx5" : "other");
	if (list)
		ibv_free_device_list(list);
	return list ? 0 : 1;
}
