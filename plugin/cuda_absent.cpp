// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cuda_interop.hpp for a build without CUDA: there is no session, so whatever asks for one is never reached.
#include "cuda_interop.hpp"

namespace convolve {

bool cuda_can_allocate(GstVideoFormat) {
  return false;
}
bool is_cuda_buffer(GstBuffer*) {
  return false;
}
GstObject* cuda_buffer_context(GstBuffer*) {
  return nullptr;
}
GstBufferPool* make_cuda_pool(GstObject*, const CudaSession*, GstCaps*, guint&, guint, guint) {
  return nullptr;
}
int cuda_buffer_device(GstBuffer*) {
  return -1;
}
int cuda_map_flags() {
  return 0;
}

void CudaContextSlot::set_context(GstElement*, GstContext*, int) {}
bool CudaContextSlot::answer(GstElement*, GstQuery*) {
  return false;
}
void CudaContextSlot::ensure(GstElement*, int) {
  throw std::runtime_error("this build of the plugin has no CUDA");
}
void CudaContextSlot::renew(int) {}
void CudaContextSlot::replace(GstObject*) {}
void CudaContextSlot::clear() {}
CudaContextSlot::Owned CudaContextSlot::get() const {
  return Owned(context_);
}

DeviceFrame::~DeviceFrame() = default;
const Image& DeviceFrame::image() const {
  static const Image none;
  return none;
}

CudaScope::CudaScope(CudaSession*) {}
CudaScope::CudaScope(CudaSession*, std::nothrow_t) noexcept {}
CudaScope::~CudaScope() {
  static_cast<void>(pushed_);
}

struct CudaSession::Impl {};
CudaSession::CudaSession(GstObject*) {
  throw std::runtime_error("this build of the plugin has no CUDA");
}
CudaSession::~CudaSession() = default;
std::unique_ptr<Backend> CudaSession::make_backend() {
  return nullptr;
}
GstObject* CudaSession::context() const {
  return nullptr;
}
int CudaSession::device_id() const {
  return -1;
}
void* CudaSession::stream() const {
  return nullptr;
}
void CudaSession::synchronize() {}
bool CudaSession::owns(GstBuffer*) const {
  return false;
}
void CudaSession::drain() noexcept {}
void CudaSession::follow(GstBuffer*) {}
bool CudaSession::precede(GstBuffer*) {
  return false;
}
DeviceFrame CudaSession::allocate(const FrameLayout&) {
  return {};
}
void CudaSession::trim() {}
void CudaSession::upload(const Image&, const DeviceFrame&, const FrameLayout&) {}
void CudaSession::download(const DeviceFrame&, const Image&, const FrameLayout&) {}
void CudaSession::copy(const Image&, const Image&, const FrameLayout&) {}
bool CudaSession::owns(GstBufferPool*) const {
  return false;
}
bool CudaSession::reaches(GstBuffer*) {
  return false;
}
const Image& CudaSession::stage(const Image& host, const FrameLayout&, const Rows&) {
  return host;
}
void CudaSession::begin_slabs() {}
void CudaSession::upload_slab(const Image&, const Image&, const FrameLayout&, const Rows&) {}
void CudaSession::download_slab(const Image&, const Image&, const FrameLayout&, const Rows&) {}
void CudaSession::finish_slabs() {}
GstAllocator* CudaSession::host_allocator() const {
  return nullptr;
}

}  // namespace convolve
