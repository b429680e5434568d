/* gpu_names.h - what a GPU is called. */
#ifndef RK_GPU_NAMES_H
#define RK_GPU_NAMES_H

/* Product of an AMD GPU by its PCI device id and revision, or NULL. */
const char *rk_gpu_amd_product(unsigned device, unsigned revision);

#endif
