/* pack_absent.c - replaces the packager if rockit is built without libarchive. */
#include "base/error.h"
#include "rockit/pack.h"

static int absent(struct rk_error *err)
{
	return rk_fail(err, RK_E_UNSUPPORTED,
		       "this rockit was built without libarchive: it cannot pack");
}

int rk_pack_new(const struct rk_pack_options *o, struct rk_pack **ret, struct rk_error *err)
{
	(void)o, (void)ret;
	return absent(err);
}

const struct rk_pack_package *rk_pack_packages(const struct rk_pack *p, size_t *ret_n)
{
	(void)p;
	if (ret_n)
		*ret_n = 0;
	return NULL;
}

const struct rk_warning *rk_pack_warnings(const struct rk_pack *p, size_t *ret_n)
{
	(void)p;
	if (ret_n)
		*ret_n = 0;
	return NULL;
}

const struct rk_pack_left *rk_pack_left_out(const struct rk_pack *p, size_t *ret_n)
{
	(void)p;
	if (ret_n)
		*ret_n = 0;
	return NULL;
}

const char *rk_pack_version(const struct rk_pack *p)
{
	(void)p;
	return "";
}

int rk_pack_render(const struct rk_pack *p, enum rk_report_format format, char **ret,
		   size_t *ret_len, struct rk_error *err)
{
	(void)p, (void)format, (void)ret, (void)ret_len;
	return absent(err);
}

int rk_pack_build(struct rk_pack *p, struct rk_error *err)
{
	(void)p;
	return absent(err);
}

void rk_pack_free(struct rk_pack *p)
{
	(void)p;
}

int rk_pack_index(const char *dir, size_t *ret_files, struct rk_error *err)
{
	(void)dir, (void)ret_files;
	return absent(err);
}

int rk_pack_index_trees(const char *dir,
			void (*each)(void *arg, const char *tree, size_t packages, size_t apart),
			void *arg, struct rk_error *err)
{
	(void)dir, (void)each, (void)arg;
	return absent(err);
}

int rk_pack_verify(const struct rk_pack_verify_options *o, struct rk_pack_proof **ret,
		   struct rk_error *err)
{
	(void)o, (void)ret;
	return absent(err);
}

int rk_pack_proof_render(const struct rk_pack_proof *p, enum rk_report_format format, char **ret,
			 size_t *ret_len, struct rk_error *err)
{
	(void)p, (void)format, (void)ret, (void)ret_len;
	return absent(err);
}

void rk_pack_proof_free(struct rk_pack_proof *p)
{
	(void)p;
}

int rk_rocm_init(const struct rk_rocm_init_options *o, char **ret, size_t *ret_len,
		 struct rk_error *err)
{
	(void)o, (void)ret, (void)ret_len;
	return absent(err);
}
