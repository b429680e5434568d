/* decls.h - C linkage and default visibility for the declarations of every header. */
#ifndef ROCKIT_DECLS_H
#define ROCKIT_DECLS_H

#ifdef __cplusplus
#define RK_BEGIN_DECLS                                     \
	_Pragma("GCC visibility push(default)") extern "C" \
	{
#define RK_END_DECLS \
	}            \
	_Pragma("GCC visibility pop")
#else
#define RK_BEGIN_DECLS _Pragma("GCC visibility push(default)")
#define RK_END_DECLS _Pragma("GCC visibility pop")
#endif

#endif
