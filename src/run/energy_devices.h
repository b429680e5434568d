/* energy_devices.h - which sampled GPU a kernel ran on. */
#ifndef RK_ENERGY_DEVICES_H
#define RK_ENERGY_DEVICES_H

#include "base/map.h"
#include "base/strtab.h"
#include "run/energy_curve.h"

#define RK_ENERGY_NOWHERE SIZE_MAX

struct rk_energy_agent {
	uint32_t node;
	int64_t device;
	bool gpu;
};

struct rk_energy_devices {
	const struct rk_strtab *names;
	struct rk_energy_curve *curves; /* in order of node and device once settled */
	size_t n, cap, last;
	struct rk_energy_agent *agents;
	size_t nagents, cap_agents;
	struct rk_keys kernels; /* node, 0, device */
	size_t *places;         /* curve of each of `kernels`, RK_ENERGY_NOWHERE for none */
	size_t nplaces;
};

void rk_energy_devices_init(struct rk_energy_devices *d, const struct rk_strtab *names);
void rk_energy_devices_release(struct rk_energy_devices *d);
/* The curve of a sample; RK_ENERGY_NOWHERE when there are too many. */
int rk_energy_devices_curve(struct rk_energy_devices *d, uint32_t node, int64_t device, size_t *ret,
			    struct rk_error *err);
int rk_energy_devices_agent(struct rk_energy_devices *d, uint32_t node, int64_t device, bool gpu,
			    struct rk_error *err);
/* A number for a kernel's device. */
int rk_energy_devices_kernel(struct rk_energy_devices *d, uint32_t node, int64_t device,
			     uint32_t *ret, struct rk_error *err);
/* After the last of all these: finds where kernels belong. Curves may move. */
int rk_energy_devices_settle(struct rk_energy_devices *d, struct rk_error *err);
size_t rk_energy_devices_place(const struct rk_energy_devices *d, uint32_t kernel);
/* The number that kernels, or else agents, have for the GPU of a curve; -1: not known. */
int64_t rk_energy_devices_number(const struct rk_energy_devices *d, size_t curve);
/* Of a device that some kernel had. */
size_t rk_energy_devices_find(struct rk_energy_devices *d, uint32_t node, int64_t device);

#endif
