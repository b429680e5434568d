/* nvtx_layout.c - what the collector believes about NVTX, against NVIDIA's headers; never run. */
#include <nvtx3/nvToolsExt.h>

#include "nvtx_abi.h"

#define FIELD(a, b)                                                                               \
	_Static_assert(offsetof(struct nvtx_attributes, a) == offsetof(nvtxEventAttributes_t, b), \
		       #b);
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs);

FIELD(version, version)
FIELD(size, size)
FIELD(message_type, messageType)
FIELD(message, message)
_Static_assert(sizeof(struct nvtx_attributes) == sizeof(nvtxEventAttributes_t), "size");
_Static_assert(offsetof(struct nvtx_callbacks, module_table) ==
		       offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable),
	       "the function behind the size");
NUMBER(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS)
NUMBER(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE)
NUMBER(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2)
NUMBER(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx)
NUMBER(NVTX_MARK_A, NVTX_CBID_CORE_MarkA)
NUMBER(NVTX_MARK_W, NVTX_CBID_CORE_MarkW)
NUMBER(NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx)
NUMBER(NVTX_START_A, NVTX_CBID_CORE_RangeStartA)
NUMBER(NVTX_START_W, NVTX_CBID_CORE_RangeStartW)
NUMBER(NVTX_END, NVTX_CBID_CORE_RangeEnd)
NUMBER(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx)
NUMBER(NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA)
NUMBER(NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW)
NUMBER(NVTX_POP, NVTX_CBID_CORE_RangePop)
NUMBER(NVTX_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx)
NUMBER(NVTX_DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx)
NUMBER(NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd)
NUMBER(NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx)
NUMBER(NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop)
NUMBER(NVTX_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA)
NUMBER(NVTX_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW)
NUMBER(NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA)
NUMBER(NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW)
NUMBER(NVTX_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy)
NUMBER(NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII)
NUMBER(NVTX_MESSAGE_UNICODE, NVTX_MESSAGE_TYPE_UNICODE)
NUMBER(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED)
NUMBER(NVTX_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING)
