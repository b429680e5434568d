/*
 * ocl_entries.h - every function that a loader forwards, in the order of its table: number of
 * parameters, return type, name, types of the parameters. Define F() before including it. It omits
 * the Windows functions, and clSVMFree, which returns nothing.
 */

/* clang-format off */
F(3, cl_int, clGetPlatformIDs, cl_uint, cl_platform_id *, cl_uint *)
F(5, cl_int, clGetPlatformInfo, cl_platform_id, cl_platform_info, size_t, void *, size_t *)
F(5, cl_int, clGetDeviceIDs, cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *)
F(5, cl_int, clGetDeviceInfo, cl_device_id, cl_device_info, size_t, void *, size_t *)
F(6, cl_context, clCreateContext, const cl_context_properties *, cl_uint, const cl_device_id *,
  rk_cl_context_fn, void *, cl_int *)
F(5, cl_context, clCreateContextFromType, const cl_context_properties *, cl_device_type,
  rk_cl_context_fn, void *, cl_int *)
F(1, cl_int, clRetainContext, cl_context)
F(1, cl_int, clReleaseContext, cl_context)
F(5, cl_int, clGetContextInfo, cl_context, cl_context_info, size_t, void *, size_t *)
F(4, cl_command_queue, clCreateCommandQueue, cl_context, cl_device_id,
  cl_command_queue_properties, cl_int *)
F(1, cl_int, clRetainCommandQueue, cl_command_queue)
F(1, cl_int, clReleaseCommandQueue, cl_command_queue)
F(5, cl_int, clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info, size_t, void *,
  size_t *)
F(4, cl_int, clSetCommandQueueProperty, cl_command_queue, cl_command_queue_properties, cl_bool,
  cl_command_queue_properties *)
F(5, cl_mem, clCreateBuffer, cl_context, cl_mem_flags, size_t, void *, cl_int *)
F(8, cl_mem, clCreateImage2D, cl_context, cl_mem_flags, const cl_image_format *, size_t, size_t,
  size_t, void *, cl_int *)
F(10, cl_mem, clCreateImage3D, cl_context, cl_mem_flags, const cl_image_format *, size_t,
  size_t, size_t, size_t, size_t, void *, cl_int *)
F(1, cl_int, clRetainMemObject, cl_mem)
F(1, cl_int, clReleaseMemObject, cl_mem)
F(6, cl_int, clGetSupportedImageFormats, cl_context, cl_mem_flags, cl_mem_object_type, cl_uint,
  cl_image_format *, cl_uint *)
F(5, cl_int, clGetMemObjectInfo, cl_mem, cl_mem_info, size_t, void *, size_t *)
F(5, cl_int, clGetImageInfo, cl_mem, cl_image_info, size_t, void *, size_t *)
F(5, cl_sampler, clCreateSampler, cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int *)
F(1, cl_int, clRetainSampler, cl_sampler)
F(1, cl_int, clReleaseSampler, cl_sampler)
F(5, cl_int, clGetSamplerInfo, cl_sampler, cl_sampler_info, size_t, void *, size_t *)
F(5, cl_program, clCreateProgramWithSource, cl_context, cl_uint, const char **, const size_t *,
  cl_int *)
F(7, cl_program, clCreateProgramWithBinary, cl_context, cl_uint, const cl_device_id *, const
  size_t *, const unsigned char **, cl_int *, cl_int *)
F(1, cl_int, clRetainProgram, cl_program)
F(1, cl_int, clReleaseProgram, cl_program)
F(6, cl_int, clBuildProgram, cl_program, cl_uint, const cl_device_id *, const char *,
  rk_cl_program_fn, void *)
F(0, cl_int, clUnloadCompiler)
F(5, cl_int, clGetProgramInfo, cl_program, cl_program_info, size_t, void *, size_t *)
F(6, cl_int, clGetProgramBuildInfo, cl_program, cl_device_id, cl_program_build_info, size_t,
  void *, size_t *)
F(3, cl_kernel, clCreateKernel, cl_program, const char *, cl_int *)
F(4, cl_int, clCreateKernelsInProgram, cl_program, cl_uint, cl_kernel *, cl_uint *)
F(1, cl_int, clRetainKernel, cl_kernel)
F(1, cl_int, clReleaseKernel, cl_kernel)
F(4, cl_int, clSetKernelArg, cl_kernel, cl_uint, size_t, const void *)
F(5, cl_int, clGetKernelInfo, cl_kernel, cl_kernel_info, size_t, void *, size_t *)
F(6, cl_int, clGetKernelWorkGroupInfo, cl_kernel, cl_device_id, cl_kernel_work_group_info,
  size_t, void *, size_t *)
F(2, cl_int, clWaitForEvents, cl_uint, const cl_event *)
F(5, cl_int, clGetEventInfo, cl_event, cl_event_info, size_t, void *, size_t *)
F(1, cl_int, clRetainEvent, cl_event)
F(1, cl_int, clReleaseEvent, cl_event)
F(5, cl_int, clGetEventProfilingInfo, cl_event, cl_profiling_info, size_t, void *, size_t *)
F(1, cl_int, clFlush, cl_command_queue)
F(1, cl_int, clFinish, cl_command_queue)
F(9, cl_int, clEnqueueReadBuffer, cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *,
  cl_uint, const cl_event *, cl_event *)
F(9, cl_int, clEnqueueWriteBuffer, cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void
  *, cl_uint, const cl_event *, cl_event *)
F(9, cl_int, clEnqueueCopyBuffer, cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t,
  cl_uint, const cl_event *, cl_event *)
F(11, cl_int, clEnqueueReadImage, cl_command_queue, cl_mem, cl_bool, const size_t *, const
  size_t *, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *)
F(11, cl_int, clEnqueueWriteImage, cl_command_queue, cl_mem, cl_bool, const size_t *, const
  size_t *, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *)
F(9, cl_int, clEnqueueCopyImage, cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t
  *, const size_t *, cl_uint, const cl_event *, cl_event *)
F(9, cl_int, clEnqueueCopyImageToBuffer, cl_command_queue, cl_mem, cl_mem, const size_t *, const
  size_t *, size_t, cl_uint, const cl_event *, cl_event *)
F(9, cl_int, clEnqueueCopyBufferToImage, cl_command_queue, cl_mem, cl_mem, size_t, const size_t
  *, const size_t *, cl_uint, const cl_event *, cl_event *)
F(10, void *, clEnqueueMapBuffer, cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t,
  size_t, cl_uint, const cl_event *, cl_event *, cl_int *)
F(12, void *, clEnqueueMapImage, cl_command_queue, cl_mem, cl_bool, cl_map_flags, const size_t
  *, const size_t *, size_t *, size_t *, cl_uint, const cl_event *, cl_event *, cl_int *)
F(6, cl_int, clEnqueueUnmapMemObject, cl_command_queue, cl_mem, void *, cl_uint, const cl_event
  *, cl_event *)
F(9, cl_int, clEnqueueNDRangeKernel, cl_command_queue, cl_kernel, cl_uint, const size_t *, const
  size_t *, const size_t *, cl_uint, const cl_event *, cl_event *)
F(5, cl_int, clEnqueueTask, cl_command_queue, cl_kernel, cl_uint, const cl_event *, cl_event *)
F(10, cl_int, clEnqueueNativeKernel, cl_command_queue, rk_cl_native_fn, void *, size_t, cl_uint,
  const cl_mem *, const void **, cl_uint, const cl_event *, cl_event *)
F(2, cl_int, clEnqueueMarker, cl_command_queue, cl_event *)
F(3, cl_int, clEnqueueWaitForEvents, cl_command_queue, cl_uint, const cl_event *)
F(1, cl_int, clEnqueueBarrier, cl_command_queue)
F(1, void *, clGetExtensionFunctionAddress, const char *)
F(4, cl_mem, clCreateFromGLBuffer, cl_context, cl_mem_flags, cl_GLuint, int *)
F(6, cl_mem, clCreateFromGLTexture2D, cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint,
  cl_int *)
F(6, cl_mem, clCreateFromGLTexture3D, cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint,
  cl_int *)
F(4, cl_mem, clCreateFromGLRenderbuffer, cl_context, cl_mem_flags, cl_GLuint, cl_int *)
F(3, cl_int, clGetGLObjectInfo, cl_mem, cl_gl_object_type *, cl_GLuint *)
F(5, cl_int, clGetGLTextureInfo, cl_mem, cl_gl_texture_info, size_t, void *, size_t *)
F(6, cl_int, clEnqueueAcquireGLObjects, cl_command_queue, cl_uint, const cl_mem *, cl_uint,
  const cl_event *, cl_event *)
F(6, cl_int, clEnqueueReleaseGLObjects, cl_command_queue, cl_uint, const cl_mem *, cl_uint,
  const cl_event *, cl_event *)
F(5, cl_int, clGetGLContextInfoKHR, const cl_context_properties *, cl_gl_context_info, size_t,
  void *, size_t *)
F(4, cl_int, clSetEventCallback, cl_event, cl_int, rk_cl_event_fn, void *)
F(5, cl_mem, clCreateSubBuffer, cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *)
F(3, cl_int, clSetMemObjectDestructorCallback, cl_mem, rk_cl_mem_fn, void *)
F(2, cl_event, clCreateUserEvent, cl_context, cl_int *)
F(2, cl_int, clSetUserEventStatus, cl_event, cl_int)
F(14, cl_int, clEnqueueReadBufferRect, cl_command_queue, cl_mem, cl_bool, const size_t *, const
  size_t *, const size_t *, size_t, size_t, size_t, size_t, void *, cl_uint, const cl_event *,
  cl_event *)
F(14, cl_int, clEnqueueWriteBufferRect, cl_command_queue, cl_mem, cl_bool, const size_t *, const
  size_t *, const size_t *, size_t, size_t, size_t, size_t, const void *, cl_uint, const
  cl_event *, cl_event *)
F(13, cl_int, clEnqueueCopyBufferRect, cl_command_queue, cl_mem, cl_mem, const size_t *, const
  size_t *, const size_t *, size_t, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event
  *)
F(5, cl_int, clCreateSubDevicesEXT, cl_device_id, const cl_device_partition_property_ext *,
  cl_uint, cl_device_id *, cl_uint *)
F(1, cl_int, clRetainDeviceEXT, cl_device_id)
F(1, cl_int, clReleaseDeviceEXT, cl_device_id)
F(3, cl_event, clCreateEventFromGLsyncKHR, cl_context, cl_GLsync, cl_int *)
F(5, cl_int, clCreateSubDevices, cl_device_id, const cl_device_partition_property *, cl_uint,
  cl_device_id *, cl_uint *)
F(1, cl_int, clRetainDevice, cl_device_id)
F(1, cl_int, clReleaseDevice, cl_device_id)
F(6, cl_mem, clCreateImage, cl_context, cl_mem_flags, const cl_image_format *, const
  cl_image_desc *, void *, cl_int *)
F(5, cl_program, clCreateProgramWithBuiltInKernels, cl_context, cl_uint, const cl_device_id *,
  const char *, cl_int *)
F(9, cl_int, clCompileProgram, cl_program, cl_uint, const cl_device_id *, const char *, cl_uint,
  const cl_program *, const char **, rk_cl_program_fn, void *)
F(9, cl_program, clLinkProgram, cl_context, cl_uint, const cl_device_id *, const char *,
  cl_uint, const cl_program *, rk_cl_program_fn, void *, cl_int *)
F(1, cl_int, clUnloadPlatformCompiler, cl_platform_id)
F(6, cl_int, clGetKernelArgInfo, cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void *, size_t *)
F(9, cl_int, clEnqueueFillBuffer, cl_command_queue, cl_mem, const void *, size_t, size_t,
  size_t, cl_uint, const cl_event *, cl_event *)
F(8, cl_int, clEnqueueFillImage, cl_command_queue, cl_mem, const void *, const size_t *, const
  size_t *, cl_uint, const cl_event *, cl_event *)
F(7, cl_int, clEnqueueMigrateMemObjects, cl_command_queue, cl_uint, const cl_mem *,
  cl_mem_migration_flags, cl_uint, const cl_event *, cl_event *)
F(4, cl_int, clEnqueueMarkerWithWaitList, cl_command_queue, cl_uint, const cl_event *, cl_event *)
F(4, cl_int, clEnqueueBarrierWithWaitList, cl_command_queue, cl_uint, const cl_event *, cl_event *)
F(2, void *, clGetExtensionFunctionAddressForPlatform, cl_platform_id, const char *)
F(6, cl_mem, clCreateFromGLTexture, cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint,
  cl_int *)
F(6, cl_mem, clCreateFromEGLImageKHR, cl_context, CLeglDisplayKHR, CLeglImageKHR, cl_mem_flags,
  const cl_egl_image_properties_khr *, cl_int *)
F(6, cl_int, clEnqueueAcquireEGLObjectsKHR, cl_command_queue, cl_uint, const cl_mem *, cl_uint,
  const cl_event *, cl_event *)
F(6, cl_int, clEnqueueReleaseEGLObjectsKHR, cl_command_queue, cl_uint, const cl_mem *, cl_uint,
  const cl_event *, cl_event *)
F(4, cl_event, clCreateEventFromEGLSyncKHR, cl_context, CLeglSyncKHR, CLeglDisplayKHR, cl_int *)
F(4, cl_command_queue, clCreateCommandQueueWithProperties, cl_context, cl_device_id, const
  cl_queue_properties *, cl_int *)
F(6, cl_mem, clCreatePipe, cl_context, cl_mem_flags, cl_uint, cl_uint, const cl_pipe_properties
  *, cl_int *)
F(5, cl_int, clGetPipeInfo, cl_mem, cl_pipe_info, size_t, void *, size_t *)
F(4, void *, clSVMAlloc, cl_context, cl_svm_mem_flags, size_t, unsigned int)
F(8, cl_int, clEnqueueSVMFree, cl_command_queue, cl_uint, void **, rk_cl_svm_fn, void *,
  cl_uint, const cl_event *, cl_event *)
F(8, cl_int, clEnqueueSVMMemcpy, cl_command_queue, cl_bool, void *, const void *, size_t,
  cl_uint, const cl_event *, cl_event *)
F(8, cl_int, clEnqueueSVMMemFill, cl_command_queue, void *, const void *, size_t, size_t,
  cl_uint, const cl_event *, cl_event *)
F(8, cl_int, clEnqueueSVMMap, cl_command_queue, cl_bool, cl_map_flags, void *, size_t, cl_uint,
  const cl_event *, cl_event *)
F(5, cl_int, clEnqueueSVMUnmap, cl_command_queue, void *, cl_uint, const cl_event *, cl_event *)
F(3, cl_sampler, clCreateSamplerWithProperties, cl_context, const cl_sampler_properties *, cl_int *)
F(3, cl_int, clSetKernelArgSVMPointer, cl_kernel, cl_uint, const void *)
F(4, cl_int, clSetKernelExecInfo, cl_kernel, cl_kernel_exec_info, size_t, const void *)
F(8, cl_int, clGetKernelSubGroupInfoKHR, cl_kernel, cl_device_id, cl_kernel_sub_group_info,
  size_t, const void *, size_t, void *, size_t *)
F(2, cl_kernel, clCloneKernel, cl_kernel, cl_int *)
F(4, cl_program, clCreateProgramWithIL, cl_context, const void *, size_t, cl_int *)
F(8, cl_int, clEnqueueSVMMigrateMem, cl_command_queue, cl_uint, const void **, const size_t *,
  cl_mem_migration_flags, cl_uint, const cl_event *, cl_event *)
F(3, cl_int, clGetDeviceAndHostTimer, cl_device_id, cl_ulong *, cl_ulong *)
F(2, cl_int, clGetHostTimer, cl_device_id, cl_ulong *)
F(8, cl_int, clGetKernelSubGroupInfo, cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t,
  const void *, size_t, void *, size_t *)
F(3, cl_int, clSetDefaultDeviceCommandQueue, cl_context, cl_device_id, cl_command_queue)
F(3, cl_int, clSetProgramReleaseCallback, cl_program, rk_cl_program_fn, void *)
F(4, cl_int, clSetProgramSpecializationConstant, cl_program, cl_uint, size_t, const void *)
F(6, cl_mem, clCreateBufferWithProperties, cl_context, const cl_mem_properties *, cl_mem_flags,
  size_t, void *, cl_int *)
F(7, cl_mem, clCreateImageWithProperties, cl_context, const cl_mem_properties *, cl_mem_flags,
  const cl_image_format *, const cl_image_desc *, void *, cl_int *)
F(3, cl_int, clSetContextDestructorCallback, cl_context, rk_cl_context_end_fn, void *)
/* clang-format on */
