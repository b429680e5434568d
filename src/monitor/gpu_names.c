/* gpu_names.c - what a GPU is called. */
#include "monitor/gpu_names.h"

#include <stddef.h>

enum { ANY = 0x100 }; /* no revision has this number */

/*
 * The name is as a rule in the driver's product_name; many boards leave that empty. Only GPUs that
 * ROCm runs on. One id may stand for several products that differ in revision: those come first.
 */
static const struct product {
	unsigned device, revision;
	const char *name;
} products[] = {
	{ 0x66af, ANY, "AMD Radeon VII" },
	{ 0x738c, ANY, "AMD Instinct MI100" },
	{ 0x73a1, ANY, "AMD Radeon Pro V620" },
	{ 0x73a3, ANY, "AMD Radeon Pro W6800" },
	{ 0x73a5, ANY, "AMD Radeon RX 6950 XT" },
	{ 0x73bf, 0xc0, "AMD Radeon RX 6900 XT" },
	{ 0x73bf, 0xc1, "AMD Radeon RX 6800 XT" },
	{ 0x73bf, 0xc3, "AMD Radeon RX 6800" },
	{ 0x7408, ANY, "AMD Instinct MI250X" },
	{ 0x740c, ANY, "AMD Instinct MI250X / MI250" },
	{ 0x740f, ANY, "AMD Instinct MI210" },
	{ 0x7448, ANY, "AMD Radeon Pro W7900" },
	{ 0x7449, ANY, "AMD Radeon Pro W7800 48GB" },
	{ 0x744a, ANY, "AMD Radeon Pro W7900 Dual Slot" },
	{ 0x744c, 0xc8, "AMD Radeon RX 7900 XTX" },
	{ 0x744c, 0xcc, "AMD Radeon RX 7900 XT" },
	{ 0x744c, 0xce, "AMD Radeon RX 7900 GRE" },
	{ 0x744c, 0xcf, "AMD Radeon RX 7900M" },
	{ 0x744c, ANY, "AMD Radeon RX 7900 Series" },
	{ 0x745e, ANY, "AMD Radeon Pro W7800" },
	{ 0x7460, ANY, "AMD Radeon Pro V710" },
	{ 0x7470, ANY, "AMD Radeon Pro W7700" },
	{ 0x747e, 0xc8, "AMD Radeon RX 7800 XT" },
	{ 0x747e, 0xff, "AMD Radeon RX 7700 XT" },
	{ 0x74a0, ANY, "AMD Instinct MI300A" },
	{ 0x74a1, ANY, "AMD Instinct MI300X" },
	{ 0x74a2, ANY, "AMD Instinct MI308X" },
	{ 0x74a5, ANY, "AMD Instinct MI325X" },
	{ 0x74a8, ANY, "AMD Instinct MI308X HF" },
	{ 0x74a9, ANY, "AMD Instinct MI300X HF" },
	{ 0x74b5, ANY, "AMD Instinct MI300X VF" },
	{ 0x7550, 0xc0, "AMD Radeon RX 9070 XT" },
	{ 0x7550, 0xc2, "AMD Radeon RX 9070 GRE" },
	{ 0x7550, 0xc3, "AMD Radeon RX 9070" },
	{ 0x7551, 0xc0, "AMD Radeon AI PRO R9700" },
	{ 0x7590, 0xc0, "AMD Radeon RX 9060 XT" },
	{ 0x75a0, ANY, "AMD Instinct MI350X" },
	{ 0x75a3, ANY, "AMD Instinct MI355X" },
	{ 0x75b0, ANY, "AMD Instinct MI350X VF" },
	{ 0x75b3, ANY, "AMD Instinct MI355X VF" },
};

const char *rk_gpu_amd_product(unsigned device, unsigned revision)
{
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		if (products[i].device == device &&
		    (products[i].revision == revision || products[i].revision == ANY))
			return products[i].name;
	return NULL;
}
