/* doctor_parts.h - the three ways to write down what the doctor found. */
#ifndef RK_DOCTOR_PARTS_H
#define RK_DOCTOR_PARTS_H

#include "base/bytes.h"
#include "rockit/doctor.h"

/* Each appends to `out`; whoever calls looks at out->bad. */
void rk_doctor_text(struct rk_bytes *out, const struct rk_doctor *d,
		    const struct rk_render_options *how, bool detail);
void rk_doctor_json(struct rk_bytes *out, const struct rk_doctor *d);
void rk_doctor_csv(struct rk_bytes *out, const struct rk_doctor *d);

#endif
