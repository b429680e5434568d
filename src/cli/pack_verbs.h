/* pack_verbs.h - the verbs of `rockit pack`. */
#ifndef RK_PACK_VERBS_H
#define RK_PACK_VERBS_H

#include "command.h"

extern const struct rk_command cmd_pack_build, cmd_pack_index, cmd_pack_rocm_init, cmd_pack_verify;

#endif
